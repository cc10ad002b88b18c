// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.Sender;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/**
 * Measures the calls themselves: each send, receive and free of a ping-pong is timed. Waiting is
 * not included: only the receive that returns the message is timed. The interval between two
 * consecutive readings of the clock is measured as well, since every other time includes it.
 */
public final class CallBench extends Bench {

  static final long DEFAULT_MESSAGES = 100_000;
  private static final int CHUNK = 10_000;

  private final BenchClient client;
  private final long[] send = new long[CHUNK]; // the times of the current chunk
  private final long[] receive = new long[CHUNK];
  private final long[] free = new long[CHUNK];
  private final long[] clock = new long[CHUNK];

  /**
   * Creates a benchmark.
   *
   * @param client the connection to measure
   * @param subject the labels of the results
   * @param plan what to measure
   */
  public CallBench(BenchClient client, Subject subject, Plan plan) {
    super(subject, plan);
    this.client = client;
  }

  @Override
  public List<Result> run(Observer observer) {
    try (Arena arena = Arena.ofConfined()) {
      return run(
          plan.sizes().stream().map(size -> new CallMeasurement(arena, size)).toList(),
          List.of(),
          observer);
    }
  }

  private final class CallMeasurement implements Measurement {
    private final MessageContent content;
    private final List<Histogram> times =
        Stream.generate(LatencySummary::newHistogram).limit(Result.CALLS.size()).toList();

    private CallMeasurement(Arena arena, int size) {
      content = new MessageContent(arena, size);
    }

    @Override
    public String name() {
      return content.size() + " bytes";
    }

    @Override
    public void warmUp(boolean first) {
      plan.warmUp(first, this::chunks);
      times.forEach(Histogram::reset);
    }

    @Override
    public void round(int index) {
      chunks(plan.share(plan.messages().orElse(DEFAULT_MESSAGES), index));
    }

    private void chunks(int messages) {
      for (int left = messages; left > 0; left -= CHUNK) {
        int count = Math.min(CHUNK, left);
        chunk(content, count);
        for (int i = 0; i < count; i++) {
          times.get(0).recordValue(send[i]);
          times.get(1).recordValue(receive[i]);
          times.get(2).recordValue(free[i]);
          times.get(3).recordValue(clock[i]);
        }
      }
    }

    @Override
    public List<Result> results() {
      return times.get(0).getTotalCount() == 0
          ? List.of()
          : Result.calls(
              subject,
              Result.LATENCY_CALLS,
              content.size(),
              times.get(0).getTotalCount(),
              times.stream().map(histogram -> LatencySummary.of(histogram, 1)).toList());
    }
  }

  private void chunk(MessageContent content, int count) {
    Sender sender = client.sender();
    Receiver receiver = client.receiver();
    client.start(Round.of(Round.Kind.ECHO, count, content.size()));
    for (int i = 0; i < count; i++) {
      content.number(i);
      long start = System.nanoTime();
      sender.send(content.bytes(), 0, content.size());
      long sent = System.nanoTime();
      send[i] = sent - start;
      ReceiveRegion message;
      long before;
      long after;
      do {
        if (!client.spins()) {
          Thread.yield(); // the server may run on this processor
        }
        before = System.nanoTime();
        message = receiver.tryReceive();
        after = System.nanoTime();
      } while (message == null);
      receive[i] = after - before;
      if (!content.matches(message.buffer(), message.offset(), message.length(), i)) {
        throw client.corrupt(
            "an echo of " + message.length() + " bytes differs from the message sent");
      }
      before = System.nanoTime();
      receiver.free(message);
      after = System.nanoTime();
      free[i] = after - before;
      clock[i] = System.nanoTime() - after;
    }
  }
}
