// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.Sender;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Measures the calls themselves: each send, receive and free of a ping-pong is timed. Waiting is
 * not included: only the receive that returns the message counts. Two consecutive readings of the
 * clock are timed as well, since every other time includes that.
 */
public final class CallBench {

  private static final int CHUNK = 10_000;
  private static final long DEFAULT_MESSAGES = 100_000;

  private final BenchClient client;
  private final Subject subject;
  private final Plan plan;

  /**
   * Creates a benchmark.
   *
   * @param client the connection to measure
   * @param subject the labels of the results
   * @param plan what to measure
   */
  public CallBench(BenchClient client, Subject subject, Plan plan) {
    this.client = client;
    this.subject = subject;
    this.plan = plan;
  }

  /** The times of one kind of call. */
  private static final class Times {
    private final long[] nanos = new long[CHUNK];
    private final Histogram histogram = LatencySummary.newHistogram();

    private void record(int count) {
      for (int i = 0; i < count; i++) {
        histogram.recordValue(nanos[i]);
      }
    }
  }

  /**
   * Measures, in the calling thread.
   *
   * @return four results per size: send, receive, free and the clock
   */
  public List<Result> run() {
    return run(Observer.NONE);
  }

  /**
   * Measures, in the calling thread.
   *
   * @param observer receives the progress
   * @return four results per size: send, receive, free and the clock
   */
  public List<Result> run(Observer observer) {
    List<Result> results = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      for (int size : plan.sizes()) {
        measure(new MessageContent(arena, size), results, observer);
      }
    }
    return results;
  }

  private void measure(MessageContent content, List<Result> results, Observer observer) {
    Times send = new Times();
    Times receive = new Times();
    Times free = new Times();
    Times clock = new Times();
    observer.progress("warming up, " + content.size() + " bytes", () -> List.copyOf(results));
    plan.warmUp(
        results.isEmpty(),
        count -> {
          for (int done = 0; done < count; done += CHUNK) {
            chunk(content, Math.min(CHUNK, count - done), send, receive, free, clock);
          }
        });
    long messages = plan.messages().orElse(DEFAULT_MESSAGES);
    for (long left = messages; left > 0; left -= CHUNK) {
      int count = (int) Math.min(CHUNK, left);
      chunk(content, count, send, receive, free, clock);
      send.record(count);
      receive.record(count);
      free.record(count);
      clock.record(count);
      long done = messages - left + count;
      observer.progress(
          done + " of " + messages + " messages, " + content.size() + " bytes",
          () -> {
            List<Result> soFar = new ArrayList<>(results);
            soFar.addAll(results(content.size(), send, receive, free, clock));
            return soFar;
          });
    }
    results.addAll(results(content.size(), send, receive, free, clock));
  }

  private List<Result> results(int size, Times send, Times receive, Times free, Times clock) {
    return List.of(
        result("send", size, send),
        result("receive", size, receive),
        result("free", size, free),
        result("clock", size, clock));
  }

  private Result result(String call, int size, Times times) {
    return Result.call(
        subject,
        call,
        size,
        times.histogram.getTotalCount(),
        LatencySummary.of(times.histogram, 1));
  }

  private void chunk(
      MessageContent content, int count, Times send, Times receive, Times free, Times clock) {
    Sender sender = client.sender();
    Receiver receiver = client.receiver();
    client.start(Round.of(Round.Kind.ECHO, count, content.size()));
    for (int i = 0; i < count; i++) {
      content.number(i);
      long start = System.nanoTime();
      sender.send(content.bytes(), 0, content.size());
      long sent = System.nanoTime();
      send.nanos[i] = sent - start;

      ReceiveRegion message;
      long before;
      long after;
      do {
        if (!client.spins()) {
          Thread.yield(); // the server may need this processor
        }
        before = System.nanoTime();
        message = receiver.tryReceive();
        after = System.nanoTime();
      } while (message == null);
      receive.nanos[i] = after - before;
      if (!content.matches(message.buffer(), message.offset(), message.length(), i)) {
        throw client.corrupt(
            "an echo of " + message.length() + " bytes differs from the message sent");
      }

      before = System.nanoTime();
      receiver.free(message);
      after = System.nanoTime();
      free.nanos[i] = after - before;
      clock.nanos[i] = System.nanoTime() - after;
    }
  }
}
