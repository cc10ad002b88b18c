// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Sender;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Measures the calls of a one-way connection: each send in this process and, in the server, each
 * receive that returns a message and each free. A send includes the wait for buffer space. The
 * interval between two consecutive readings of the clock is measured as well, since every other
 * time includes it.
 */
public final class OneWayCallBench extends Bench {

  private static final int PART = 10_000;

  private final BenchClient client;

  /**
   * Creates a benchmark.
   *
   * @param client the one-way connection to measure
   * @param subject the labels of the results
   * @param plan what to measure; the messages of each size are one round
   */
  public OneWayCallBench(BenchClient client, Subject subject, Plan plan) {
    super(subject, plan);
    this.client = client;
  }

  /** The times measured in this process, for messages of one size. */
  private record Times(int size, Histogram send, Histogram clock) {}

  /** Also closes the connection, since only then the server reports. */
  @Override
  public List<Result> run(Observer observer) {
    List<Times> all = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      for (int size : plan.sizes()) {
        MessageContent content = new MessageContent(arena, size);
        observer.progress("warming up, " + size + " bytes", List::of);
        plan.warmUp(all.isEmpty(), count -> send(Round.Kind.CALLS_WARMUP, content, count));
        observer.progress(size + " bytes", List::of);
        long messages = plan.messages().orElse(CallBench.DEFAULT_MESSAGES);
        all.add(send(Round.Kind.CALLS, content, messages));
      }
    }
    client.end();
    List<Result> results = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      results.addAll(results(all.get(i), client.report(i)));
    }
    return results;
  }

  private Times send(Round.Kind kind, MessageContent content, long count) {
    Sender sender = client.sender();
    Histogram send = LatencySummary.newHistogram();
    Histogram clock = LatencySummary.newHistogram();
    for (long done = 0; done < count; done += PART) { // so that a watchdog sees progress
      client.begin(Math.min(PART, count - done), content.size());
      if (done == 0) {
        Round.of(kind, count, content.size()).send(sender);
      }
      for (long i = done; i < Math.min(done + PART, count); i++) {
        content.number(i);
        long start = System.nanoTime();
        sender.send(content.bytes(), 0, content.size());
        long end = System.nanoTime();
        clock.recordValue(System.nanoTime() - end);
        send.recordValue(end - start);
      }
    }
    return new Times(content.size(), send, clock);
  }

  private List<Result> results(Times times, OneWayReport report) {
    long sent = times.send.getTotalCount();
    if (report.messages() != sent || report.wrong() != 0) {
      throw client.corrupt(
          "%s of %s messages differ from the %s that were sent"
              .formatted(report.wrong(), report.messages(), sent));
    }
    return Result.calls(
        subject,
        Result.ONE_WAY_CALLS,
        times.size,
        sent,
        List.of(
            LatencySummary.of(times.send, 1),
            report.receive(),
            report.free(),
            LatencySummary.of(times.clock, 1)));
  }
}
