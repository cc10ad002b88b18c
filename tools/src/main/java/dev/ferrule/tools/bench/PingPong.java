// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.MessageHandler;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.Sender;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * Sends a message, waits for its echo, checks it, and sends the next.
 *
 * <p>The clock is read once per round trip, right after a send, while the message is in flight.
 * Reading it therefore adds no measured time, and the times of all round trips add up to the time
 * of the whole round.
 */
final class PingPong implements MessageHandler {

  private final BenchClient client;
  private final Sender sender;
  private final Receiver receiver;
  private final MessageContent content;
  private long number;

  PingPong(BenchClient client, SegmentAllocator allocator, int size) {
    this.client = client;
    sender = client.sender();
    receiver = client.receiver();
    content = new MessageContent(allocator, size);
  }

  /** Performs and times round trips, after a first one that starts the clock. */
  void round(long[] periods, int count) {
    client.start(Round.of(Round.Kind.ECHO, count + 1L, content.size()));
    exchange(periods, count, Long.MAX_VALUE);
  }

  /**
   * Performs and times round trips likewise, until they have taken a given time or {@code most} are
   * done. Returns their number, at least one.
   */
  int roundUntil(long limitNanos, long[] periods, int most) {
    client.start(Round.of(Round.Kind.ECHO, Round.UNTIL_END, content.size()));
    int count = exchange(periods, most, limitNanos);
    Round.sendEnd(sender, content.size());
    receiver.receive().close(); // its echo
    return count;
  }

  private int exchange(long[] periods, int most, long limitNanos) {
    boolean spins = client.spins();
    long start = 0;
    long before = 0;
    int count = 0;
    for (int i = -1; i < most; i++) {
      content.number(++number);
      sender.send(content.bytes(), 0, content.size());
      long now = System.nanoTime();
      if (i >= 0) {
        periods[i] = now - before;
      } else {
        start = now;
      }
      before = now;
      if (spins) {
        while (receiver.poll(this, 1) == 0) {
          // the message is in flight
        }
      } else {
        ReceiveRegion message = receiver.receive();
        onMessage(message.buffer(), message.offset(), message.length());
        receiver.free(message);
      }
      count = i + 1;
      if (now - start >= limitNanos) {
        break;
      }
    }
    return count;
  }

  @Override
  public void onMessage(MemorySegment buffer, long offset, int length) {
    if (!content.matches(buffer, offset, length, number)) {
      throw client.corrupt("an echo of " + length + " bytes differs from the message sent");
    }
  }
}
