// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.messages;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.tools.Main;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the command {@code ferrule} prints when it fails, and its exit code. */
class CommandMessagesTest {

  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "2 | latncy | ferrule: Unmatched argument at index 0: 'latncy'; did you mean "
            + "latency? (try 'ferrule --help')",
        "2 | latency --siz 8 | ferrule: Unknown option: '--siz'; did you mean --size? (try "
            + "'ferrule latency --help')",
        "2 | latency --size tall | ferrule: Invalid value for option '--size' (N): 'tall' "
            + "is not a size from 0 to 1GiB, such as 65536, 64KiB or 1MiB (try 'ferrule latency "
            + "--help')",
        "2 | latency --messages 0 | ferrule: --messages and --rounds must be at least 1, "
            + "--warmup at least 0 (try 'ferrule latency --help')",
        "2 | latency -D 1s -n 5 | ferrule: --duration and --messages exclude each other (try "
            + "'ferrule latency --help')",
        "2 | latency -D 1s --calls | ferrule: --duration does not apply to --calls, whose "
            + "calls are timed one by one; use --messages (try 'ferrule latency --help')",
        "2 | bandwidth -D 0 | ferrule: --duration must be at least 10ms (try 'ferrule "
            + "bandwidth --help')",
        "2 | rma -D soon | ferrule: Invalid value for option '--duration': 'soon' is "
            + "not a time from 0 to 24h, such as 250ms, 5s or 2m (try 'ferrule rma --help')",
        "2 | latency -a -s 8 | ferrule: --all and --size exclude each other (try 'ferrule "
            + "latency --help')",
        "2 | latency -c 4095 | ferrule: --cpus 4095: this process may run on CPUS only (try "
            + "'ferrule latency --help')",
        "2 | latency -c RC | ferrule: Invalid value for option '--cpus' (N): 'RC' is not a "
            + "whole number such as 1000000 or 1e6 (try 'ferrule latency --help')",
        "2 | latency -o colour=red | ferrule: unknown option 'colour'; valid options: NAMES",
        "2 | latency -o ring=none | ferrule: option ring=none is not valid: ring is a size "
            + "from 4KiB to 16MiB, such as 65536, 64KiB or 1MiB",
        "2 | latency --json /no/such/folder/x | ferrule: cannot write /no/such/folder/x: "
            + "no folder /no/such/folder (try 'ferrule latency --help')",
        "2 | latency --plot result.gif | ferrule: --plot writes PNG files; the name must "
            + "end in .png",
        "2 | latency --threads 2 | ferrule: latency is measured on one connection by one "
            + "thread; use 'ferrule bandwidth' to measure several (try 'ferrule latency --help')",
        "2 | latency --inline 64 | ferrule: --inline is not supported by the provider sm: "
            + "no option 'inline'; its options are NAMES",
        "2 | latency sm:///DIR --provider sm | ferrule: --provider and --host apply to a "
            + "server that this command starts; remove them, or the URI (try 'ferrule latency "
            + "--help')",
        "2 | bandwidth --connections 2 --threads 3 | ferrule: --connections must be at "
            + "least 1, --threads at least 1 and at most --connections (try 'ferrule bandwidth "
            + "--help')",
        "2 | rma --size 0 | ferrule: --size 0: an access of 0 bytes has no bandwidth; the "
            + "minimum is 1",
        "2 | doctor --out report | ferrule: --out needs --rdma, and --json is not "
            + "supported with --rdma (try 'ferrule doctor --help')",
        "2 | serve --for-evaluation 127.0.0.1 | ferrule: --for-evaluation '127.0.0.1' is "
            + "not a host and a port, such as 10.0.0.2:7470",
        "2 | serve --for-evaluation h.invalid:1 | ferrule: --for-evaluation: unknown host "
            + "h.invalid; check the name, or write its IP address",
        "2 | serve --for-evaluation 0.0.0.0:0 --token 12345678 | ferrule: --for-evaluation "
            + "0.0.0.0:0: a wildcard address; write the address of one RDMA device ('rdma link' "
            + "and 'ip address' show it)",
        "2 | send app /dev/null | ferrule: app: the address has no scheme; write one such "
            + "as magicring://10.0.0.1:18515 or sendrecv://10.0.0.1:18515 or sm:///dev/shm/app",
        "2 | send sm://host/app /dev/null | ferrule: sm://host/app: an address of sm has "
            + "no host, but this one has 'host'; write three slashes: sm:///host/app",
        "2 | ls sendrecv://h:1 | ferrule: sendrecv has no endpoints to list or remove: "
            + "they end with their process",
        "6 | ls tcp://h:1 | ferrule: no provider for 'tcp'; 'ferrule providers' lists them",
        "6 | send tcp://h:1 /dev/null | ferrule: tcp://h:1: no provider for the scheme "
            + "'tcp' on the class path or module path, only for magicring, sendrecv, sm; Ferrule has "
            + "dev.ferrule:ferrule-spi-sm, -sendrecv and -magicring",
        "6 | latency --provider tcp | ferrule: no provider 'tcp'; installed: magicring, "
            + "sendrecv, sm",
        "3 | send sm:///DIR /dev/null | ferrule: sm:///DIR: connection refused: no "
            + "listener at sm:///DIR (start one, or check the path): no live listener in the "
            + "directory",
        "3 | latency sm:///DIR | ferrule: sm:///DIR: connection refused: no listener at "
            + "sm:///DIR (start one, or check the path): no live listener in the directory",
        "1 | send sm:///DIR /no/such/file | ferrule: cannot read /no/such/file: no such " + "file",
        "1 | send sm:///DIR /DIR | ferrule: /DIR is a directory; send an archive of it, "
            + "for example with tar",
        "5 | latency --provider sm -o maxMapped=1MiB --no-pin | ferrule: mmap(116744192 "
            + "bytes of shared memory; all connections together take N of 1048576 bytes): Cannot "
            + "allocate memory (errno 12); free memory, raise vm.max_map_count or the option "
            + "maxMapped, or use less memory (options buffer, maxMessage, ring, allocatable)",
      })
  void aFailureIsOneLineWithAnExitCode(int code, String line, String expected) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String[] words = line.replace("/DIR", directory.toString()).split(" ");
    int actual = Main.run(new PrintWriter(out), new PrintWriter(err, true), words);
    assertThat(actual + " | " + line + " | " + readable(err.toString()))
        .isEqualTo(code + " | " + line + " | " + expected);
    assertThat(out.toString()).isEmpty();
  }

  private String readable(String text) {
    return text.strip()
        .replace(directory.toString(), "/DIR")
        .replaceAll("/DIR/\\d+/\\d+", "/DIR/PID/ID")
        .replaceAll("may run on [\\d,]+ only", "may run on CPUS only")
        .replaceAll("(valid options:|its options are) [\\w, ]+", "$1 NAMES")
        .replaceAll(
            "together take \\d+", "together take N"); // including that of other tests in this JVM
  }
}
