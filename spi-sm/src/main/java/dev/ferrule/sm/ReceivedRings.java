// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.MessageHandler;
import dev.ferrule.sm.ring.CorruptRingException;
import dev.ferrule.sm.ring.ReceiverSleep;
import dev.ferrule.sm.ring.RingConsumer;
import dev.ferrule.sm.ring.RingProducer;
import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The rings from which a connection receives, in turn: the first, and one for each lane in which
 * the peer has begun to send. Finds their messages, or passes them to a handler.
 *
 * <p>Used by the receiving thread; any thread may call {@link #mayHaveNext}, {@link #stop} and
 * {@link #total}.
 */
final class ReceivedRings {

  /** Maximum number of messages polled from a ring before the next one is polled. */
  private static final int TURN = 64;

  private final SmConnection connection;
  private final SharedRing own;
  private final ReceiverSleep sleep;
  private final RingConsumer first;
  private volatile RingConsumer[] rings; // replaced, never modified
  private volatile long known; // the lanes that have one of these rings
  private int turn;
  private int polled; // since beginPoll

  ReceivedRings(SmConnection connection, SharedRing own, boolean fences) {
    this.connection = connection;
    this.own = own;
    this.sleep = new ReceiverSleep(own.ring(), fences);
    this.first = new RingConsumer(own.layout(), own.ring(), own.buffer(), fences);
    this.rings = new RingConsumer[] {first};
  }

  /** Returns the sleep until one of them has a message. */
  ReceiverSleep sleep() {
    return sleep;
  }

  /** Returns the size of the records in each ring, in bytes. */
  long ringBytes() {
    return own.layout().capacity();
  }

  /** Returns the maximum number of regions that the program holds at a time. */
  int maxRegions() {
    return own.layout().regions();
  }

  /** Returns the first ring, whose control words apply to all rings. */
  RingConsumer first() {
    return first;
  }

  /** Returns whether the first ring is the only one. */
  private boolean areSingle() {
    return first.lanes() == 0 && known == 0;
  }

  /**
   * Checks for further rings, and returns the number of rings.
   *
   * @throws CorruptRingException if the peer uses a lane that does not exist
   */
  private int count() {
    long lanes = first.lanes();
    if (lanes != known && !connection.isReleased()) { // otherwise they may be zeros
      add(lanes);
    }
    return rings.length;
  }

  private void add(long lanes) {
    long now = known;
    if ((lanes & now) != now || Long.SIZE - Long.numberOfLeadingZeros(lanes) > own.lanes()) {
      throw new CorruptRingException(
          "the sender's lanes 0x"
              + Long.toHexString(lanes)
              + " are invalid: they were 0x"
              + Long.toHexString(now)
              + ", and the maximum is "
              + own.lanes());
    }
    RingConsumer[] more = Arrays.copyOf(rings, 1 + Long.bitCount(lanes));
    int count = rings.length;
    for (long rest = lanes & ~now; rest != 0; rest &= rest - 1) {
      int lane = Long.numberOfTrailingZeros(rest);
      more[count++] =
          new RingConsumer(own.layout(), own.laneRing(lane), own.laneBuffer(lane), sleep.fences());
    }
    rings = more;
    known = lanes;
    if (connection.isReleased()) { // perhaps after the other rings were stopped
      stop();
    }
  }

  /** Returns the next ring in rotation. */
  private RingConsumer nextInTurn() {
    RingConsumer[] all = rings;
    turn = turn + 1 < all.length ? turn + 1 : 0;
    return all[turn];
  }

  /**
   * Looks for the next message, in all rings in turn.
   *
   * @return the ring that has found one; null if there is none
   */
  @Nullable RingConsumer find() {
    if (areSingle()) {
      return next(first) ? first : null;
    }
    for (int rest = count(); rest > 0; rest--) {
      RingConsumer ring = nextInTurn();
      if (next(ring)) {
        return ring;
      }
    }
    return null;
  }

  private boolean next(RingConsumer ring) {
    boolean result = ring.next();
    if (!result) {
      acknowledge(ring); // padding may have been skipped
    }
    return result;
  }

  /** Called before a {@link #poll}. */
  void beginPoll() {
    polled = 0;
  }

  /** Returns how many messages were passed since {@link #beginPoll}. */
  int polled() {
    return polled;
  }

  /**
   * Passes messages to the handler until there is none, or the limit is reached. Several rings take
   * turns.
   */
  void poll(MessageHandler handler, int limit) {
    if (areSingle()) {
      boolean ignored = poll(first, handler, limit);
      return;
    }
    int count = count();
    int drained = 0; // number of consecutive rings without a further message
    while (drained < count && polled < limit && !connection.isReleased()) {
      int most = limit - polled;
      boolean mayHaveMore = poll(nextInTurn(), handler, Math.min(TURN, most));
      drained = mayHaveMore ? 0 : drained + 1;
    }
  }

  /** Passes messages of a ring to the handler; returns whether there may be more. */
  private boolean poll(RingConsumer ring, MessageHandler handler, int limit) {
    int end = polled + limit;
    while (polled < end) {
      handOverInline(ring, handler, end - polled);
      if (ring.isDrained()) {
        return false;
      }
      // a record of another type follows, or an eighth of the ring was consumed
      if (polled < end) {
        if (connection.isReleased() || !next(ring)) {
          return false;
        }
        handOver(ring, handler);
      }
    }
    return true;
  }

  /** Passes inline messages to the handler until a record of another type follows. */
  private void handOverInline(RingConsumer ring, MessageHandler handler, int limit) {
    long before = ring.messages();
    int count = -1;
    try {
      count = ring.pollInline(handler, limit);
    } finally {
      if (count < 0) { // the handler has thrown
        count = (int) (ring.messages() - before);
      }
      if (count > 0) {
        polled += count;
        sleep.received(count);
      }
      acknowledge(ring);
    }
  }

  /** Passes the message that was found to the handler, without reading its header again. */
  private void handOver(RingConsumer ring, MessageHandler handler) {
    int line = ring.messageLine();
    try {
      handler.onMessage(ring.messageMemory(), ring.messageOffset(), ring.messageLength());
    } finally {
      polled++;
      ring.advance();
      if (line != RingProducer.INLINE && ring.release(line)) {
        connection.wakePeer();
      }
      acknowledge(ring);
    }
  }

  /** Gives consumed room back to the sender. */
  void acknowledge(RingConsumer ring) {
    if (ring.acknowledge()) {
      connection.wakePeer();
    }
    Reference.reachabilityFence(this);
  }

  /**
   * Returns whether the peer has ended its messages. Messages published before may still be in the
   * rings: check for them after this call.
   *
   * @throws CorruptRingException if the peer has stored an invalid value
   */
  boolean isEnded() {
    boolean result = first.isEnded();
    Reference.reachabilityFence(this);
    return result;
  }

  /** Returns whether the peer may have ended its messages. By any thread. */
  boolean mayBeEnded() {
    return first.mayBeEnded();
  }

  /** Returns whether there may be a message. May be called while another thread receives. */
  boolean mayHaveNext() {
    if (first.lanes() != known) {
      return true;
    }
    for (RingConsumer ring : rings) {
      if (ring.mayHaveNext()) {
        return true;
      }
    }
    return false;
  }

  /** Ends a poll of another thread after the message that it is passing. */
  void stop() {
    for (RingConsumer ring : rings) {
      ring.stop();
    }
  }

  long total(ToLongFunction<RingConsumer> count) {
    return Arrays.stream(rings).mapToLong(count).sum();
  }
}
