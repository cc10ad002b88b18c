// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class CommandLineTest {

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "providers",
        "doctor",
        "listen",
        "send",
        "latency",
        "bandwidth",
        "serve",
        "rma",
        "ls",
        "top",
        "clean"
      })
  void everyCommandHasAHelpTextWithItsExitCodes(String command) {
    Run run = Run.of(command, "--help");
    assertThat(run.exitCode()).isZero();
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .contains("Usage: ferrule " + command)
        .contains("Exit codes:")
        .contains("Example");
    assertThat(run.out().lines()).as("fits a terminal").allMatch(line -> line.length() <= 80);
    assertThat(run.out()).as("no colours without a terminal").doesNotContain("\033");
    for (int width : new int[] {60, 100}) {
      StringWriter out = new StringWriter();
      Main.run(
          new PrintWriter(out),
          new PrintWriter(out),
          new Main.Look(width, true),
          command,
          "--help");
      assertThat(out.toString()).as("a terminal has colours").contains("\033[1m");
      assertThat(out.toString().replaceAll("\033\\[[0-9;]*m", "").lines())
          .allMatch(line -> line.length() <= width);
    }
  }

  /** A value such as 8,64,4KiB counts as one word. */
  @ParameterizedTest
  @ValueSource(ints = {60, 72, 80, 100})
  void noLineOfAHelpTextEndsWithinAWord(int width) {
    CommandLine root = new FerruleCommand().commandLine();
    new Main.Look(width, false).applyTo(root);
    for (CommandLine command : root.getSubcommands().values()) {
      CommandSpec spec = command.getCommandSpec();
      String help = command.getUsageMessage();
      Set<String> printed = new HashSet<>(words(Stream.of(help)));
      Stream<String> texts =
          Stream.of(
                  Stream.of(spec.usageMessage().description()),
                  Stream.of(spec.usageMessage().footer()),
                  spec.args().stream()
                      .filter(argument -> !argument.hidden())
                      .flatMap(argument -> Stream.of(argument.description())))
              .flatMap(text -> text);
      assertThat(printed).as(spec.qualifiedName()).containsAll(words(texts));
      String synopsis = command.getHelp().synopsis("Usage: ".length());
      assertThat(words(Stream.of(synopsis)))
          .as("the synopsis of %s", spec.qualifiedName())
          .allMatch(word -> word.replace("[", "").length() == word.replace("]", "").length());
    }
  }

  private static List<String> words(Stream<String> texts) {
    return texts
        .flatMap(text -> Stream.of(text.strip().split("\\s+")))
        .filter(word -> !word.isEmpty() && !word.contains("${") && !word.contains("%n"))
        .toList();
  }

  @Test
  void examplesFitATerminal() {
    for (CommandLine command : new FerruleCommand().commandLine().getSubcommands().values()) {
      assertThat(command.getCommandSpec().usageMessage().footer())
          .filteredOn(line -> line.startsWith("  ferrule"))
          .allMatch(line -> line.length() <= 80);
    }
  }

  @Test
  void onlyTheNamedCommandIsAddedAndItHasTheOptionsOfTheRoot() {
    assertThat(new FerruleCommand().commandLine("ls").getSubcommands()).containsOnlyKeys("ls");
    assertThat(Run.of("ls", "--verbose", "--help").exitCode()).isZero();
  }

  @Test
  void theHelpTextShowsTheCommandsButNotThoseForInternalUse() {
    assertThat(Run.of("--help").out()).contains("latency").contains("doctor");
    assertThat(Run.of("serve", "--help").out()).doesNotContain("--child");
  }

  @Test
  void theExamplesAreOfCommandsOnTheClassPath() {
    assertThat(Run.of("--help").out())
        .contains("ferrule latency --floor")
        .doesNotContain("evaluate"); // of the module lab
  }

  @Test
  void helpIsACommandAsWell() {
    assertThat(Run.of("help").out()).isEqualTo(Run.of("--help").out());
    assertThat(Run.of("help", "latency").out()).isEqualTo(Run.of("latency", "--help").out());
    assertThat(Run.of("help").exitCode()).isZero();
  }

  /** The test closes the pipe before the JVM has started. */
  @Test
  void aCommandWhoseOutputHasNoReaderEndsWithoutAMessage() throws Exception {
    try (FerruleProcess providers = FerruleProcess.start(folder, "providers")) {
      providers.process().getInputStream().close();
      providers.mustEndWith(141);
      assertThat(providers.errors()).isEmpty();
    }
  }

  @Test
  void aFullDeviceIsReportedWithItsReason() throws Exception {
    try (FerruleProcess providers =
        FerruleProcess.startRedirected(folder, ">/dev/full", "providers")) {
      assertThat(providers.mustEndWith(1).errors())
          .isEqualTo("ferrule: cannot write to standard output: No space left on device\n");
    }
  }

  @Test
  void theVersionIsPrinted() throws Exception {
    String commit =
        new String(
                new ProcessBuilder("../build-support/commit.sh")
                    .start()
                    .getInputStream()
                    .readAllBytes())
            .replace("-dirty", "")
            .strip();
    // the build may be older than the last commit: only the format is compared
    assertThat(Run.of("--version").out().lines().findFirst().orElseThrow())
        .matches(commit.isEmpty() ? "ferrule .*" : "ferrule .* \\([0-9a-f]{12}(-dirty)?\\)");
    assertThat(Run.of("--version").out()).startsWith("ferrule ").contains("Java 25");
    assertThat(Run.of("latency", "--version").out()).startsWith("ferrule ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''                                     | missing command; use one of: providers, doctor",
        "latncy                                 | did you mean latency?",
        "latency --siz 8                        | did you mean --size?",
        "latency --size 8,x                     | 'x' is not a size",
        "latency --size -1                      | '-1' is not a size",
        "latency --size 2GiB                    | '2GiB' is not a size from 0 to 1GiB",
        "latency --wait hurry                   | '--wait': 'hurry' is not one of spin, adaptive,",
        "latency -o wait                        | 'wait' is not NAME=VALUE, such as wait=spin",
        "latency -o =spin                       | '=spin' is not NAME=VALUE, such as wait=spin",
        "latency -c 0-1e1                       | '0-1e1' is not a processor number or a range",
        "latency -c 0,3-2                       | '3-2' is not a processor number or a range; li",
        "latency -c 4000-4002                   | --cpus 4000-4002: this process may run on",
        "latency --messages 0                   | --rounds must be at least 1",
        "latency --messages many                | 'many' is not a whole number such as 1000000",
        "latency --messages 1e99                | '1e99' is not a whole number, or too large",
        "latency --messages 1.5                 | '1.5' is not a whole number",
        "latency --messages 1e-2                | '1e-2' is not a whole number",
        "bandwidth --connections 1e12           | '1e12' is not a whole number, or too large",
        "latency --rounds 0                     | --rounds must be at least 1",
        "latency --warmup -1                    | --warmup at least 0",
        "latency --interval 0                   | --interval must be at least 100ms",
        "bandwidth -i 99ms                      | --interval must be at least 100ms",
        "rma -i 0.05                            | --interval must be at least 100ms",
        "rma -i soon                            | 'soon' is not a time from 0 to 24h",
        "latency -i 0.0005                      | '0.0005' is not a time from 0 to 24h",
        "latency -i -1                          | '-1' is not a time from 0 to 24h",
        "latency --calls -i 1                   | --interval does not apply to --calls",
        "latency --plot result.gif              | must end in .png",
        "latency --json /no/such/folder/x       | no folder /no/such/folder",
        "latency -o ring=none                   | option ring=none is not valid",
        "latency -o colour=red                  | unknown option 'colour'; valid options:",
        "latency sm:///tmp/x --provider sm      | remove them, or the URI",
        "latency sm:///tmp/x --host localhost   | remove them, or the URI",
        "latency --provider sm --host localhost | have hosts, not for sm",
        "bandwidth sm:///tmp/x --single-receiver| has no effect on a running server; start it",
        "bandwidth sm:///tmp/x --srq            | 'ferrule serve --srq URI'",
        "latency sm:///tmp/x -o singleReceiver=on | 'singleReceiver' has no effect on a running",
        "latency sm:///tmp/x?singleReceiver=on  | 'ferrule serve --single-receiver URI'",
        "latency sendrecv://h:1?srq=on          | option 'srq' has no effect on a running",
        "latency magicring://h:1 --simplex --calls -o mapping=plain | no effect on a client that",
        "latency magicring://h:1?simplex=on&ring=1MiB --calls | option 'ring' has no effect on",
        "help latncy                            | Unknown subcommand 'latncy'",
        "latency sm:///tmp/x?wait=hurry         | wait is one of spin, adaptive, block",
        "bandwidth --batch 0                    | --batch at least 1",
        "bandwidth --unacked -1                 | --unacked must be at least 0",
        "bandwidth --connections 0              | --connections must be at least 1",
        "bandwidth --connections 2 --threads 3  | at most --connections",
        "bandwidth --connections 2 --threads 0  | --threads at least 1",
        "bandwidth --inline 64                  | --inline is not supported by the provider sm: no",
        "latency --srq                          | no option 'srq'; its options are wait, maxMess",
        "serve sm:///tmp/x --srq                | --srq is not supported by the provider sm",
        "latency --provider sm --inline x       | 'x' is not a size",
        "latency --connections 2                | use 'ferrule bandwidth' to measure several",
        "latency --threads 2                    | use 'ferrule bandwidth' to measure several",
        "latency magicring://h:1?simplex=on     | simplex=on is not possible; remove the option",
        "bandwidth -o simplex=on magicring://h:1| simplex=on is not possible",
        "latency --provider magicring --simplex | ferrule: both sides of this command send",
        "serve magicring://h:1 --simplex --single-receiver | cannot receive in a single thread",
        "send magicring://h:1?simplex=on        | simplex=on is not possible",
        "listen -o simplex=on magicring://h:1   | simplex=on is not possible",
        "ls                                     | Missing required parameter: 'PATH'",
        "ls --watch 0 /tmp                      | --watch must be at least 100ms",
        "ls --watch 99999999 /tmp               | --watch: '99999999' is not a time",
        "ls --watch=x /tmp                      | --watch: 'x' is not a time from 0 to 24h, such",
        "ls --watch 1x /tmp                     | Unmatched argument at index 3: '/tmp'",
        "ls --watch --json /tmp                 | --json writes one document; remove --watch",
        "top                                    | Missing required parameter: 'PATH'",
        "top --json /tmp                        | --json needs --once",
        "top -i 0.01 /tmp                       | --interval must be at least 100ms",
        "ls --watch 0.05 /tmp                   | --watch must be at least 100ms",
        "top --interval 10ms /tmp               | --interval must be at least 100ms",
        "top sendrecv://h:1                     | end with their process",
        "clean                                  | Missing required parameter: 'PATH'",
        "ls sendrecv://h:1                      | end with their process",
        "clean sm://h/tmp                       | write three slashes",
        "send                                   | Missing required parameter: 'URI'",
        "send sm:///tmp/x --connect-timeout 5x  | '5x' is not a time",
        "listen sm:///tmp/x --timeout soon      | 'soon' is not a time from 0 to 24h, such as 5, 2",
        "send sm:///tmp/x?colour=red /dev/null | unknown option 'colour'; valid options:",
        "send nowhere /dev/null | the address has no scheme",
        "send sm:relative /dev/null | absolute",
        "listen                                 | Missing required parameter: 'URI'",
        "serve                                  | either the URI to listen on, or --for-evaluation",
        "serve sm:///tmp/x --token 12345678     | --token has no effect without --for-eval",
        "serve --for-evaluation 127.0.0.1:0 --wait spin | --wait has no effect with --for-eval",
        "serve sm:///tmp/x --max-clients 0      | --max-clients must be from 1 to 1024",
        "serve --for-evaluation 127.0.0.1       | is not a host and a port, such as 10.0.0.2:7470",
        "serve --for-evaluation 127.0.0.1:0 --token 12345678 | needs Ferrule's module 'lab'",
        "serve --for-evaluation 0.0.0.0:0 --token 12345678 | a wildcard address; write the",
        "listen sm:///tmp/x another             | Unmatched argument at index 2: 'another'",
        "serve a:b:c://                         | ",
      })
  void aWrongCommandLineIsReportedInOneLine(String arguments, String expected) {
    Run run = Run.of(arguments.isBlank() ? new String[0] : arguments.strip().split(" "));
    assertThat(run.err())
        .startsWith("ferrule: ")
        .contains(expected == null ? "" : expected)
        .hasLineCount(1);
    assertThat(run.out()).isEmpty();
    assertThat(run.exitCode()).isIn(2, 6);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "latency -o maxMapped=1MiB              | of 1048576",
        "latency -o maxPeerMemory=64KiB         | exceeds the maximum of 65536",
        "latency -o wait=hurry                  | wait is one of spin, adaptive, block",
        "latency --provider sendrecv --host h.invalid |", // neither a device nor such a host
      })
  void aProblemOfAStartedServerIsReportedWithoutItsAddress(String line, @Nullable String expected) {
    Run run = Run.of(line.split(" +"));
    assertThat(run.exitCode()).isNotZero();
    assertThat(run.err())
        .contains(expected == null ? "" : expected)
        .doesNotContain("sm:/", "sendrecv:/");
  }

  @Test
  void aWrongCommandLineHasItsOwnExitCode() {
    assertThat(Run.of("latency", "--size", "x").exitCode()).isEqualTo(2);
    assertThat(Run.of("send", "nowhere", "/dev/null").exitCode()).isEqualTo(2);
    assertThat(Run.of("latency", "sm:///tmp/x?colour=red").exitCode()).isEqualTo(2);
  }

  @Test
  void anInvalidAddressIsReportedWithoutAStackTrace() {
    Run run = Run.of("listen", "sm:// /tmp");
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).startsWith("ferrule: 'sm:// /tmp' is not a valid").hasLineCount(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "send sm:///tmp/%1B%5B2J%0A/nothing /dev/null",
        "send carrierpigeon://x /tmp/\033[2J\007",
        "--verbose send carrierpigeon://x /tmp/\033[2J\007",
        "latency --json /tmp/\033[2J\007/x",
        "listen sm:///\033[2J\007"
      })
  void noControlCharacterOfAPathReachesTheTerminal(String line) {
    Run run = Run.of(line.split(" "));
    assertThat(run.exitCode()).isNotZero();
    assertThat(run.err() + run.out())
        .doesNotContain("\033", "\007")
        .containsPattern("u001b\\[2J|%1B%5B2J");
  }

  @Test
  void anUnknownTransportIsReportedWithTheInstalledOnes() {
    Run run = Run.of("send", "carrierpigeon://loft", folder.toString());
    assertThat(run.exitCode()).isEqualTo(1); // the folder is checked first
    Run other = Run.of("listen", "carrierpigeon://loft");
    assertThat(other.exitCode()).isEqualTo(6);
    assertThat(other.err())
        .contains("no provider for the scheme 'carrierpigeon'")
        .contains("sm")
        .hasLineCount(1);
    assertThat(Run.of("latency", "--provider", "carrierpigeon").exitCode()).isEqualTo(6);
  }

  @Test
  void anUnreadableFileIsReportedBeforeAnyConnectionIsMade() throws Exception {
    Run absent = Run.of("send", "sm://" + folder + "/missing", folder.resolve("absent").toString());
    assertThat(absent.exitCode()).isEqualTo(1);
    assertThat(absent.err())
        .isEqualTo("ferrule: cannot read " + folder.resolve("absent") + ": no such file\n");
    Run directory = Run.of("send", "sm://" + folder + "/missing", folder.toString());
    assertThat(directory.exitCode()).isEqualTo(1);
    assertThat(directory.err()).contains("is a directory").hasLineCount(1);
  }

  @Test
  void anAddressWithoutAListenerIsReportedInOneLine() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "x");
    for (String[] arguments :
        new String[][] {
          {"send", "sm://" + folder + "/missing", file.toString()},
          {"latency", "sm://" + folder + "/missing"},
          {"bandwidth", "sm://" + folder + "/missing"}
        }) {
      Run run = Run.of(arguments);
      assertThat(run.exitCode()).as(arguments[0]).isEqualTo(3);
      assertThat(run.err()).startsWith("ferrule: sm://" + folder + "/missing: ").hasLineCount(1);
    }
  }

  @Test
  void theStackTraceOfAFailureIsPrintedWithVerbose() {
    Run run = Run.of("--verbose", "latency", "sm://" + folder + "/missing");
    assertThat(run.exitCode()).isEqualTo(3);
    assertThat(run.err())
        .contains("\tat dev.ferrule.")
        .contains("ferrule: sm://" + folder + "/missing: ");
    assertThat(Run.of("latency", "--verbose", "sm://" + folder + "/missing").err())
        .contains("\tat dev.ferrule.");
  }

  @Test
  void listenTimesOutWithoutAClient() {
    Run run = Run.of("listen", "--timeout", "50ms", "sm://" + folder + "/app");
    assertThat(run.exitCode()).isEqualTo(3);
    assertThat(run.err()).startsWith("listening on sm://" + folder + "/app").hasLineCount(2);
  }

  @ParameterizedTest
  @CsvSource({
    "listen --timeout 0 URI",
    "listen --timeout 0.001 URI",
    "send --connect-timeout 5 --retry 0.001 URI /dev/null"
  })
  void aTimeWithoutAUnitIsInSeconds(String line) {
    Run run = Run.of(line.replace("URI", "sm://" + folder + "/app").split(" "));
    assertThat(run.err()).doesNotContain("is not a time");
    assertThat(run.exitCode()).isEqualTo(3);
  }

  /** The last process that uses a directory removes it. */
  @ParameterizedTest
  @CsvSource({"ls, no endpoints", "top --once, no endpoints", "clean, nothing to remove"})
  void aMissingDirectoryHasNoEndpoints(String command, String output) {
    String line = command + " " + folder.resolve("absent\033[2J\007");
    Run run = Run.of(line.split(" "));
    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).isEqualTo(output + "\n");
    assertThat(run.err()).endsWith("/absent%1B%5B2J%07: no such directory\n").hasLineCount(1);
  }

  @Test
  void theJsonOfAMissingDirectoryHasNoResults() {
    Run run = Run.of("ls", "--json", folder.resolve("absent").toString());
    assertThat(run.exitCode()).isZero();
    assertThat(run.document().get("schema").getAsString()).isEqualTo("ferrule.ls/1");
    assertThat(run.results()).isEmpty();
  }

  @Test
  void anInvalidOptionIsReportedWithoutTheAddressOfTheServerToStart() {
    assertThat(Run.of("latency", "-o", "ring=1").err())
        .startsWith("ferrule: option ring=1 is not valid");
  }

  @Test
  void cleanRemovesTheEndpointsThatItsDryRunShowsAndListsTheOthers() throws IOException {
    for (String endpoint : List.of("7/1", "8/1")) {
      Path directory = Files.createDirectories(folder.resolve(endpoint));
      Files.setAttribute(directory, "unix:mode", 01700);
      Files.setAttribute(directory.getParent(), "unix:mode", 01700);
    }
    Files.writeString(folder.resolve("7/1/notes"), "of another program");
    Files.writeString(folder.resolve("8/1/lock"), "client   of process 8\n");

    for (String command : List.of("clean --dry-run", "clean")) {
      Run run = Run.of((command + " " + folder).split(" "));
      assertThat(run.exitCode()).isZero();
      assertThat(run.out())
          .containsPattern("(?s)removed:.*/8/1.*client.*not removed.*/7/1")
          .doesNotContain("nothing to remove");
    }
    assertThat(folder.resolve("8")).doesNotExist();
    assertThat(folder.resolve("7/1/notes")).exists();
    assertThat(Run.of("clean", folder.toString()).out()).startsWith("nothing to remove");
  }
}
