// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

/**
 * How long a receiver pauses after it has looked for a message in vain. In a stream, a receiver
 * that is level with the sender takes each cache line away while the sender is filling it, so both
 * wait for the line most of the time. A short pause lets the sender fill several lines.
 *
 * <p>A stream is told from single messages by the looks in vain between two records: few, because
 * each of them has to fetch the line, or because of the pause. The pause grows while it lets less
 * than {@link #FEW_BYTES} come, and shrinks when it lets more than {@link #MANY_BYTES} come. Where
 * messages come one at a time, as in a ping-pong, there are many looks between them, and no pause.
 */
final class StreamBackoff {

  /** After more looks in vain than this, what comes next is not the same stream. */
  private static final int FEW_LOOKS = 4;

  private static final int FEW_BYTES = 8 * RingLayout.LINE;

  private static final int MANY_BYTES = 128 * RingLayout.LINE;

  /** Of the processor's pause instruction: some microseconds where it takes 140 cycles. */
  private static final int MAX_PAUSES = 127;

  private long runStart; // where the receiver was at its last look in vain
  private int looks; // in vain, since the last record
  private int pauses;

  /**
   * Pauses, if that is worth while.
   *
   * @param position how many bytes of records the receiver has consumed
   */
  void lookedInVain(long position) {
    long run = position - runStart;
    if (run != 0) {
      if (looks <= FEW_LOOKS) {
        adapt(run);
      }
      runStart = position;
      looks = 0;
    }
    looks++;
    if (looks > FEW_LOOKS) {
      pauses = 0;
      return;
    }
    for (int i = 0; i < pauses; i++) {
      Thread.onSpinWait();
    }
  }

  private void adapt(long run) {
    if (run < FEW_BYTES) {
      pauses = Math.min(MAX_PAUSES, 2 * pauses + 1);
    } else if (run > MANY_BYTES) {
      pauses /= 2;
    }
  }
}
