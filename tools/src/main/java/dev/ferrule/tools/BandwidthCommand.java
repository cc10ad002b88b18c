// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.tools.bench.BandwidthBench;
import dev.ferrule.tools.support.ExitCode;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures message rate and throughput. */
@Command(
    name = "bandwidth",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Measures messages and bytes per second: the median of several rounds. A round ends when the"
          + " server confirms that it has received and checked the last message.",
      "For sizes of 64 KiB and more, a plain memory copy by one thread is measured as well.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  ferrule bandwidth --size 64,1MiB",
      "  ferrule bandwidth --size 64 --batch 8 --floor",
      "  ferrule bandwidth --size 64 --connections 4 --threads 2",
      "  ferrule bandwidth --size 64 --duration 10 --interval 1",
      "  ferrule bandwidth sendrecv://10.0.0.2:7471 --unacked 32"
    })
final class BandwidthCommand implements Callable<Integer> {

  private static final int MEMCPY_FROM = 64 << 10;

  @Spec private CommandSpec spec;

  @Mixin private MeasureOptions measure = new MeasureOptions();

  @Option(
      names = {"-s", "--size"},
      split = ",",
      paramLabel = "N",
      converter = Values.Size.class,
      defaultValue = "8,64,1KiB,64KiB,1MiB",
      description = "Message sizes in bytes, such as 64,1MiB. Default: ${DEFAULT-VALUE}.")
  private List<Integer> sizes = List.of();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      description = "Number of rounds. Default: ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(
      names = "--unacked",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "Maximum number of incomplete messages on each connection. Raises the connection option"
              + " of the same name, if there is one. Default: as many as the connection has room"
              + " for.")
  private int unacked;

  @Option(
      names = "--batch",
      paramLabel = "N",
      defaultValue = "1",
      description = "Number of messages per batch. Default: messages are sent one by one.")
  private int batch;

  @Option(
      names = "--connections",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Number of connections that send concurrently; their rates are added up. Default:"
              + " ${DEFAULT-VALUE}.")
  private int connections;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description =
          "Number of sending threads, among which the connections are distributed. Default: one"
              + " for each connection.")
  private @Nullable Integer threads;

  @Option(
      names = "--verify",
      description = "The server checks every byte of each message, not only its first and last 8.")
  private boolean verify;

  @Option(names = "--memcpy", description = "Measure the plain memory copy for all sizes.")
  private boolean memcpy;

  @Override
  public Integer call() {
    if (unacked < 0 || batch < 1) {
      throw new ParameterException(
          spec.commandLine(), "--unacked must be at least 0 and --batch at least 1");
    }
    int sending = threads == null ? connections : threads;
    if (connections < 1 || sending < 1 || sending > connections) {
      throw new ParameterException(
          spec.commandLine(),
          "--connections must be at least 1, --threads at least 1 and at most --connections");
    }
    measure.measure(
        sizes,
        rounds,
        new MeasureOptions.Load(connections, sending, unacked, MeasureOptions.Load.Kind.MESSAGES),
        (senderThreads, subject, plan, observer) ->
            new BandwidthBench(
                    senderThreads, subject, plan, unacked, batch, verify, memcpy ? 1 : MEMCPY_FROM)
                .run(observer));
    return ExitCode.OK;
  }
}
