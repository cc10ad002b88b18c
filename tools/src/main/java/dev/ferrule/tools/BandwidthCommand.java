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

/** Measures how many messages and bytes per second go through. */
@Command(
    name = "bandwidth",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Measures how many messages, and how many bytes of them, go through per second: the median of"
          + " several rounds. A round ends when the other process says that it has received and"
          + " checked the last message.",
      "Sizes of 64 KiB and more are measured next to a plain copy in memory by one thread.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  ferrule bandwidth --size 64,1MiB",
      "  ferrule bandwidth --size 64 --batch 8 --floor",
      "  ferrule bandwidth --size 64 --connections 4 --threads 2",
      "  ferrule bandwidth sendrecv://10.0.0.2:7471 --unacked 32"
    })
final class BandwidthCommand implements Callable<Integer> {

  private static final int MEMCPY_FROM = 64 << 10;

  @Spec private CommandSpec spec;

  @Mixin private MeasureOptions measure = new MeasureOptions();

  @Option(
      names = "--size",
      split = ",",
      paramLabel = "N",
      converter = Values.Size.class,
      defaultValue = "8,64,1KiB,64KiB,1MiB",
      description =
          "The sizes of the messages in bytes, such as 64,1MiB. Default: ${DEFAULT-VALUE}.")
  private List<Integer> sizes = List.of();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      description = "How many rounds. Default: ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(
      names = "--unacked",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "How many messages of a connection may be incomplete at a time; raises the connection's"
              + " option of that name, if it has one. Default: as many as it has room for.")
  private int unacked;

  @Option(
      names = "--batch",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "How many messages to hand to the transport at a time. Default: each by itself.")
  private int batch;

  @Option(
      names = "--connections",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "On how many connections to send at once; their rates are added up. Default:"
              + " ${DEFAULT-VALUE}.")
  private int connections;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description =
          "How many threads send, with the connections dealt out among them. Default: one for each"
              + " connection.")
  private @Nullable Integer threads;

  @Option(
      names = "--verify",
      description = "Let the receiver check every byte, not only both ends of each message.")
  private boolean verify;

  @Option(names = "--memcpy", description = "Show the plain copy for all sizes.")
  private boolean memcpy;

  @Override
  public Integer call() {
    if (unacked < 0 || batch < 1) {
      throw new ParameterException(
          spec.commandLine(), "--unacked is at least 0, --batch at least 1");
    }
    int sending = threads == null ? connections : threads;
    if (connections < 1 || sending < 1 || sending > connections) {
      throw new ParameterException(
          spec.commandLine(),
          "--connections is at least 1, --threads at least 1 and at most --connections");
    }
    measure.measure(
        spec.commandLine(),
        sizes,
        rounds,
        new MeasureOptions.Load(connections, sending, unacked, true),
        (crew, subject, plan, observer) ->
            new BandwidthBench(
                    crew, subject, plan, unacked, batch, verify, memcpy ? 1 : MEMCPY_FROM)
                .run(observer));
    return ExitCode.OK;
  }
}
