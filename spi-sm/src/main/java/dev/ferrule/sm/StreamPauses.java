// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

/**
 * Keeps the receiver of a stream at a distance from the sender. A receiver that is level with the
 * sender takes each cache line away while the sender is filling it, and then both wait for lines
 * most of the time. If the receiver pauses for 15 microseconds whenever it has caught up, the
 * sender fills many lines undisturbed, and the receiver reads them at memory speed.
 *
 * <p>Pauses continue as long as each brings many messages. They are tried again after some
 * messages, and after twice as many if the trial fails. So where messages arrive one at a time, as
 * in a ping-pong, one in a million waits.
 */
class StreamPauses {

  private static final long PAUSE_NANOS = 15_000;

  /** A stream brings at least so many messages in a pause: three million in a second. */
  private static final int MANY = 48;

  private static final int FIRST_TRIAL = 64; // messages
  private static final int LAST_TRIAL = 1 << 20;

  private long messages; // since the last pause
  private boolean pausing;
  private int nextTrial = FIRST_TRIAL;

  /** Counts messages, or pauses after a poll without any. */
  final void idle(int count) {
    if (count > 0) {
      messages += count;
    } else {
      caughtUp();
    }
  }

  final void received(int count) {
    messages += count;
  }

  /** Called when the receiver has found no message. */
  final void caughtUp() {
    if (messages < (pausing ? MANY : nextTrial)) {
      if (pausing) {
        pausing = false;
        nextTrial = Math.min(LAST_TRIAL, 2 * nextTrial);
      }
      return;
    }
    nextTrial = pausing ? FIRST_TRIAL : nextTrial;
    pausing = true;
    messages = 0;
    long end = now() + PAUSE_NANOS;
    while (now() - end < 0) {
      Thread.onSpinWait();
    }
  }

  /** Returns the time; tests override it. */
  long now() {
    return System.nanoTime();
  }
}
