// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.ring.CorruptRingException;
import dev.ferrule.sm.ring.RingConsumer;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import java.util.function.ToLongFunction;

/**
 * The rings from which a connection receives, in turn: the first, and one for each lane in which
 * the peer has begun to send.
 *
 * <p>Used by the receiving thread; any thread may call {@link #mayHaveNext}, {@link #stop} and
 * {@link #total}.
 */
final class ReceivedRings {

  private final SharedRing own;
  private final boolean fences;
  private final BooleanSupplier isReleased;
  private final RingConsumer first;
  private volatile RingConsumer[] rings; // replaced, never modified
  private volatile long known; // the lanes of which these are
  private int turn;

  ReceivedRings(SharedRing own, boolean fences, BooleanSupplier isReleased) {
    this.own = own;
    this.fences = fences;
    this.isReleased = isReleased;
    this.first = new RingConsumer(own.layout(), own.ring(), own.buffer(), fences);
    this.rings = new RingConsumer[] {first};
  }

  /** Returns the first ring, which has the words that concern all of them. */
  RingConsumer first() {
    return first;
  }

  /** Returns whether the first ring is the only one. */
  boolean areSingle() {
    return first.lanes() == 0 && known == 0;
  }

  /**
   * Returns the number of rings, after a look for further ones.
   *
   * @throws CorruptRingException if the peer uses a lane that does not exist
   */
  int count() {
    long lanes = first.lanes();
    if (lanes != known) {
      add(lanes);
    }
    return rings.length;
  }

  private void add(long lanes) {
    long now = known;
    if ((lanes & now) != now || Long.SIZE - Long.numberOfLeadingZeros(lanes) > own.lanes()) {
      throw new CorruptRingException(
          "the sender's lanes are 0x"
              + Long.toHexString(lanes)
              + ", after 0x"
              + Long.toHexString(now)
              + ", of "
              + own.lanes());
    }
    RingConsumer[] more = Arrays.copyOf(rings, 1 + Long.bitCount(lanes));
    int count = rings.length;
    for (long rest = lanes & ~now; rest != 0; rest &= rest - 1) {
      int lane = Long.numberOfTrailingZeros(rest);
      more[count++] =
          new RingConsumer(own.layout(), own.laneRing(lane), own.laneBuffer(lane), fences);
    }
    rings = more;
    known = lanes;
    if (isReleased.getAsBoolean()) { // perhaps after the stop of the others
      stop();
    }
  }

  /** Returns the ring whose turn it is. */
  RingConsumer next() {
    RingConsumer[] all = rings;
    turn = turn + 1 < all.length ? turn + 1 : 0;
    return all[turn];
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
