// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Sender;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Measures the calls of a connection in one direction: each send here, and at the server each
 * receive that returns a message, and each free. A send includes waiting for room. Two consecutive
 * readings of the clock are timed as well, since every other time includes that.
 */
public final class OneWayCallBench {

  private static final int PART = 10_000;
  private static final long DEFAULT_MESSAGES = 100_000;

  private final BenchClient client;
  private final Subject subject;
  private final Plan plan;

  /**
   * Creates a benchmark.
   *
   * @param client the connection to measure, in one direction
   * @param subject the labels of the results
   * @param plan what to measure
   */
  public OneWayCallBench(BenchClient client, Subject subject, Plan plan) {
    this.client = client;
    this.subject = subject;
    this.plan = plan;
  }

  /** The times measured here, for messages of one size. */
  private record Times(int size, Histogram send, Histogram clock) {}

  /**
   * Measures, in the calling thread. Closes the connection, since only then the server reports.
   *
   * @param observer receives the progress
   * @return four results per size: send, receive, free and the clock
   */
  public List<Result> run(Observer observer) {
    List<Times> all = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      for (int size : plan.sizes()) {
        MessageContent content = new MessageContent(arena, size);
        observer.progress("warming up, " + size + " bytes", List::of);
        plan.warmUp(all.isEmpty(), count -> send(Round.Kind.CALLS_WARMUP, content, count));
        observer.progress(size + " bytes", List::of);
        all.add(send(Round.Kind.CALLS, content, plan.messages().orElse(DEFAULT_MESSAGES)));
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
          report.wrong()
              + " of "
              + report.messages()
              + " messages differ from the "
              + sent
              + " that were sent");
    }
    return List.of(
        result("send", times, LatencySummary.of(times.send, 1)),
        result("receive", times, report.receive()),
        result("free", times, report.free()),
        result("clock", times, LatencySummary.of(times.clock, 1)));
  }

  private Result result(String call, Times times, LatencySummary summary) {
    return Result.oneWayCall(subject, call, times.size, times.send.getTotalCount(), summary);
  }
}
