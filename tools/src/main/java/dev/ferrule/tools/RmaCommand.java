// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.tools.bench.RmaBench;
import dev.ferrule.tools.support.ExitCode;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures remote memory access. */
@Command(
    name = "rma",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Measures reads and writes of another process's memory: the latency of one, and the"
          + " throughput of many in flight. For comparison, interleaved rounds copy as many bytes"
          + " by the bare system call (for cma) or within the client's memory. Over RDMA the"
          + " device reads and writes.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  ferrule rma",
      "  ferrule rma --path mmap --size 4KiB,1MiB",
      "  ferrule rma --allocated",
      "  ferrule rma --provider sendrecv"
    })
final class RmaCommand implements Callable<Integer> {

  @Mixin private MeasureOptions measure = new MeasureOptions();

  @Option(
      names = "--path",
      paramLabel = "PATH",
      description =
          "How sm copies: knem, cma or mmap. Short for --option rma=PATH. Default: the best"
              + " available.")
  private @Nullable String path;

  @Option(
      names = "--allocated",
      description =
          "Expose memory that Ferrule allocates (Rma.allocate): over sm both sides map it, and"
              + " copying needs no system call.")
  private boolean allocated;

  @Option(
      names = {"-s", "--size"},
      split = ",",
      paramLabel = "N",
      converter = Values.Size.class,
      defaultValue = "64,4KiB,64KiB,1MiB,16MiB",
      description = "Access sizes in bytes, such as 64,1MiB. Default: ${DEFAULT-VALUE}.")
  private List<Integer> sizes = List.of();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "7",
      description = "Number of rounds. Default: ${DEFAULT-VALUE}.")
  private int rounds;

  @Override
  public Integer call() {
    if (path != null) {
      measure.set("rma", path);
    }
    measure.measure(
        sizes,
        rounds,
        MeasureOptions.Load.ACCESSES,
        (senderThreads, subject, plan, observer) ->
            new RmaBench(senderThreads.first(), subject, plan, allocated).run(observer));
    return ExitCode.OK;
  }
}
