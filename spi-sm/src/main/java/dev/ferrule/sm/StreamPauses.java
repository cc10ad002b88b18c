// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

/**
 * Keeps the receiver of a stream at a distance from the sender. A receiver that is level with the
 * sender takes each cache line away while the sender is filling it, and then both wait for lines
 * most of the time. If the receiver pauses for some microseconds whenever it has caught up, the
 * sender fills many lines undisturbed, and the receiver reads them at memory speed.
 *
 * <p>Pauses continue as long as each brings many messages. They are tried again after some
 * messages, and after twice as many if the trial fails. Where messages arrive one at a time, as in
 * a ping-pong, a pause therefore delays only one in a million.
 */
class StreamPauses {

  private static final long LONGEST_NANOS = 15_000;
  private static final long SHORTEST_NANOS = 3_000;

  /** The sender of a stream should not fill the ring in a pause: it writes up to 70 GB/s. */
  private static final long RING_BYTES_PER_NANO = 70;

  /**
   * The maximum time per message in a stream: it has at least three million messages per second.
   */
  private static final int NANOS_PER_MESSAGE = 312;

  private static final int FIRST_TRIAL = 64; // messages
  private static final int LAST_TRIAL = 1 << 20;

  private final long pauseNanos;
  private final long many; // messages that a stream brings in a pause

  private long messages; // since the last pause
  private boolean pausing;
  private boolean drained; // whether the last poll has left no message
  private int nextTrial = FIRST_TRIAL;

  /** Creates the pauses of a receiver from rings of a size in bytes. */
  StreamPauses(long ringBytes) {
    pauseNanos = Math.clamp(ringBytes / RING_BYTES_PER_NANO, SHORTEST_NANOS, LONGEST_NANOS);
    many = pauseNanos / NANOS_PER_MESSAGE;
  }

  final void polled(int count, int limit) {
    messages += count;
    drained = count < limit;
  }

  /** Pauses if the last poll has left no message. */
  final void idle() {
    if (drained) {
      caughtUp();
    }
  }

  /** Called after a message was received in another way than by a poll. */
  final void received() {
    messages++;
  }

  /** Called when the receiver has found no message. */
  final void caughtUp() {
    if (messages < (pausing ? many : nextTrial)) {
      if (pausing) {
        pausing = false;
        nextTrial = Math.min(LAST_TRIAL, 2 * nextTrial);
      }
      return;
    }
    nextTrial = pausing ? FIRST_TRIAL : nextTrial;
    pausing = true;
    messages = 0;
    long end = now() + pauseNanos;
    while (now() - end < 0) {
      Thread.onSpinWait();
    }
  }

  /** Returns the time; tests override it. */
  long now() {
    return System.nanoTime();
  }
}
