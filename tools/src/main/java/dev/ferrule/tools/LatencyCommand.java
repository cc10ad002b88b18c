// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.tools.bench.BenchClient;
import dev.ferrule.tools.bench.CallBench;
import dev.ferrule.tools.bench.LatencyBench;
import dev.ferrule.tools.bench.Observer;
import dev.ferrule.tools.bench.OneWayCallBench;
import dev.ferrule.tools.bench.Plan;
import dev.ferrule.tools.bench.Result;
import dev.ferrule.tools.bench.SenderThreads;
import dev.ferrule.tools.bench.Subject;
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

/** Measures the latency of messages. */
@Command(
    name = "latency",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Measures one-way latency: half of the round-trip time of a message and its echo, in"
          + " nanoseconds. Each echo is checked.",
      "The clock is read once per round trip, while the message is in flight, so that the time of"
          + " reading it is not measured.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  ferrule latency --floor         over shared memory, beside a bare ring",
      "  ferrule latency --wait block    with a wake-up of the peer for each message",
      "  ferrule latency --calls         the time of each send, receive and free",
      "  ferrule latency --calls --provider magicring --simplex    in one direction",
      "  ferrule latency --size 8,64,1KiB --json result.json --plot result.png",
      "",
      "Between hosts:",
      "  ferrule serve sendrecv://10.0.0.2:7471      on the other host, and here:",
      "  ferrule latency sendrecv://10.0.0.2:7471"
    })
final class LatencyCommand implements Callable<Integer> {

  private static final List<Integer> DEFAULT_SIZES = List.of(8, 64, 128, 1 << 10, 4 << 10);
  private static final List<Integer> DEFAULT_CALL_SIZES = List.of(2 << 10);

  @Spec private CommandSpec spec;

  @Mixin private MeasureOptions measure = new MeasureOptions();

  @Option(
      names = {"-s", "--size"},
      split = ",",
      paramLabel = "N",
      converter = Values.Size.class,
      description =
          "Message sizes in bytes, such as 8,64,4KiB. Default: 8,64,128,1KiB,4KiB; with --calls"
              + " 2KiB.")
  private @Nullable List<Integer> sizes;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "20",
      description =
          "Number of rounds over which the messages are spread; rounds of all sizes are"
              + " interleaved. Default: ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(
      names = "--calls",
      description =
          "Measure the time of each send, receive and free call instead. Also measure a reading of"
              + " the clock, which each of these times includes. With --simplex, messages go in"
              + " one direction: the server measures receive and free, and the time of a send"
              + " includes the wait for buffer space.")
  private boolean calls;

  @Option(
      names = {"--connections", "--threads"},
      hidden = true,
      description = "Option of 'bandwidth', accepted here only to report that.")
  private int ofBandwidth = 1;

  @Override
  public Integer call() {
    if (ofBandwidth != 1) {
      throw new ParameterException(
          spec.commandLine(),
          "latency is measured on one connection by one thread; use 'ferrule bandwidth' to"
              + " measure several");
    }
    List<Integer> chosen = sizes != null ? sizes : calls ? DEFAULT_CALL_SIZES : DEFAULT_SIZES;
    measure.measure(
        chosen,
        rounds,
        calls ? MeasureOptions.Load.CALLS : MeasureOptions.Load.SINGLE,
        this::measure);
    return ExitCode.OK;
  }

  private List<Result> measure(
      SenderThreads senderThreads, Subject subject, Plan plan, Observer observer) {
    BenchClient client = senderThreads.first();
    if (!calls) {
      return new LatencyBench(client, subject, plan).run(observer);
    }
    return client.isOneWay()
        ? new OneWayCallBench(client, subject, plan).run(observer)
        : new CallBench(client, subject, plan).run(observer);
  }
}
