// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.match;

import dev.ferrule.peers.transport.Transport;

/**
 * What is done with every {@link Transport} to measure it. There is no look at whether the peer
 * still lives: whoever has started both processes ends them when no answer comes.
 */
final class Loops {

  private static final int POLL_LIMIT = 256;
  private static final long START = 0;
  private static final long WRONG = -1;

  private Loops() {}

  /**
   * Does round trips; the peer has to {@link #echo} one more than are timed.
   *
   * @param first the value of the first message; the others follow
   * @param periods is filled with the time of each, in nanoseconds
   * @param count how many to time; one more is made, which starts the clock
   */
  static void ping(Transport transport, long first, long[] periods, int count, int length) {
    long before = 0;
    for (int i = -1; i < count; i++) {
      long value = first + i + 1;
      send(transport, value, length);
      // The clock is read while the message is on its way: its cost does not count.
      long now = System.nanoTime();
      if (i >= 0) {
        periods[i] = now - before;
      }
      before = now;
      while (transport.poll(1) == 0) {
        // on its way
      }
      if (transport.lastValue() != value) {
        throw new IllegalStateException(
            "message " + value + " came back as " + transport.lastValue());
      }
    }
  }

  /** Sends each message back. */
  static void echo(Transport transport, long count, int length) {
    for (long left = count; left > 0; ) {
      int taken = transport.poll(1);
      if (taken > 0) {
        left -= taken;
        send(transport, transport.lastValue(), length);
      }
    }
  }

  /**
   * Sends messages as fast as they go to a peer that does {@link #sink}.
   *
   * @param first the value of the first; the others follow
   * @return the time from when the peer was ready to when it had the last one, in nanoseconds
   */
  static long send(Transport transport, long first, long count, int length) {
    awaitMessage(transport);
    long start = System.nanoTime();
    for (long value = first; value < first + count; value++) {
      send(transport, value, length);
    }
    awaitMessage(transport);
    long nanos = System.nanoTime() - start;
    if (transport.lastValue() != first + count - 1) {
      throw new IllegalStateException("messages were lost, or came twice");
    }
    return nanos;
  }

  /** Says that it is ready, takes messages, and says which was the last. */
  static void sink(Transport transport, long count) {
    long before = transport.lastValue();
    send(transport, START, Transport.SHORTEST);
    boolean right = true;
    for (long taken = 0; taken < count; ) {
      int now = transport.poll((int) Math.min(POLL_LIMIT, count - taken));
      if (now == 0) {
        // Looking again at once would take the line away from the sender while it writes to it.
        Thread.onSpinWait();
      } else {
        taken += now;
        right &= transport.lastValue() == before + taken;
      }
    }
    send(transport, right ? transport.lastValue() : WRONG, Transport.SHORTEST);
  }

  private static void send(Transport transport, long value, int length) {
    while (!transport.trySend(value, length)) {
      Thread.onSpinWait();
    }
  }

  private static void awaitMessage(Transport transport) {
    while (transport.poll(1) == 0) {
      Thread.onSpinWait();
    }
  }
}
