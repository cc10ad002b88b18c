// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

/**
 * Keeps the receiver of a stream at a distance from the sender. A receiver that is level with the
 * sender takes each cache line away while the sender is filling it, and then both wait for lines
 * most of the time. If the receiver rests for some microseconds whenever it has caught up, the
 * sender fills many lines undisturbed, and the receiver reads them at memory speed.
 *
 * <p>Whether that helps cannot be predicted: it does not if the sender has other work to do between
 * messages, or if both are one thread. It is therefore tried. The speed of the stream is measured
 * in windows. One window is received with rests, and the rests continue as long as each window
 * stays faster than the last one without rests. A failed trial is repeated after twice the time, up
 * to a limit. Where messages arrive one at a time, as in a ping-pong, a trial ends with its first
 * rest. Messages that are rarer than in a stream cause no trial.
 *
 * <p>Positions are those of the ring: bytes of records.
 */
class StreamBackoff {

  /**
   * In bytes per nanosecond: messages of 8 bytes every 0.8 microseconds. Several threads that send
   * to a receiver that is level with them are hardly faster than a ping-pong, which only a trial
   * distinguishes from a stream.
   */
  private static final double STREAM_SPEED = 0.02;

  private static final int REST_NANOS = 3_000;

  /** Required speedup of a stream with rests. */
  private static final double GAIN = 1.25;

  /** Speedup below which a receiver counts as level with the sender again. */
  private static final double LEVEL = 1.5;

  /** In a stream, more messages than this arrive during a rest. */
  private static final int FEW_MESSAGES = 8;

  private static final int WINDOW = 64 * 1024;
  private static final int MIN_CHUNK = 2 * 1024;
  private static final int MAX_CHUNK = 32 * 1024;
  private static final int CHUNK_MESSAGES = 32;

  /** Number of bytes after which the speed without rests is measured again. */
  private static final long TERM = 64L << 20;

  private static final int MAX_DELAY = 64; // windows

  // the current measurement: a window, or with rests a chunk of one
  private long checkpoint = WINDOW;
  private long start;
  private long startTime;
  private long startMessages;

  private double plainSpeed; // of the last window without rests; 0: not known
  private int delay; // number of windows until the next trial
  private int nextDelay = 1;

  // with rests
  private boolean rests;
  private boolean proven; // the trial was passed
  private long chunk;
  private long windowStart;
  private long windowStartTime;
  private long termEnd;
  private long messagesAtRest; // at the last rest after an unsuccessful poll

  private boolean due;
  private long dueUntil;

  /** Returns the time; tests override it. */
  long now() {
    return System.nanoTime();
  }

  /** Returns the position at which {@link #measure} is to be called. */
  final long checkpoint() {
    return checkpoint;
  }

  /** Ends a window, or a chunk. */
  final void measure(long position, long messages) {
    long now = now();
    double speed = speed(position - start, now - startTime);
    if (rests) {
      measureChunk(position, now, speed);
    } else {
      measureWindow(position, messages, now, speed);
    }
  }

  private static double speed(long bytes, long nanos) {
    return (double) bytes / Math.max(1, nanos);
  }

  private void measureWindow(long position, long messages, long now, double speed) {
    long count = Math.max(1, messages - startMessages);
    chunk = Math.clamp(CHUNK_MESSAGES * (position - start) / count, MIN_CHUNK, MAX_CHUNK);
    startMessages = messages;
    begin(position, now, WINDOW);
    if (speed < STREAM_SPEED) {
      plainSpeed = 0;
    } else if (delay > 0) {
      delay--;
    } else if (plainSpeed == 0) {
      plainSpeed = speed; // the receiver may have been behind; the next window counts
    } else {
      plainSpeed = speed;
      beginRests(position, now);
    }
  }

  private void begin(long position, long now, long length) {
    start = position;
    startTime = now;
    checkpoint = position + length;
  }

  private void beginRests(long position, long now) {
    rests = true;
    proven = false;
    beginWindow(position, now);
    begin(position, now, chunk);
  }

  private void beginWindow(long position, long now) {
    windowStart = position;
    windowStartTime = now;
  }

  private void endRests(long position, long now, boolean failed) {
    rests = false;
    plainSpeed = 0;
    if (failed) {
      delay = nextDelay;
      nextDelay = Math.min(MAX_DELAY, 2 * nextDelay);
    }
    begin(position, now, WINDOW);
  }

  private void measureChunk(long position, long now, double speed) {
    begin(position, now, chunk);
    if (now - windowStartTime > WINDOW / (plainSpeed * GAIN)) {
      endRests(position, now, true); // the window has already taken too long
      return;
    }
    if (position - windowStart >= WINDOW) {
      if (!proven) {
        proven = true;
        nextDelay = 1;
        termEnd = position + TERM;
      } else if (position >= termEnd) {
        endRests(position, now, false);
        return;
      }
      beginWindow(position, now);
    }
    if (speed < plainSpeed * LEVEL) {
      beginRest(position, now);
    }
  }

  private void beginRest(long position, long now) {
    due = true;
    dueUntil = now + REST_NANOS;
    begin(position, dueUntil, chunk);
  }

  /** Records that the receiver has polled and found no message. */
  final void drained(long position, long messages) {
    if (!rests) {
      return;
    }
    long now = now();
    if (messages - messagesAtRest < FEW_MESSAGES) {
      endRests(position, now, true); // a request and its reply, or the end of the stream
    } else {
      messagesAtRest = messages;
      beginRest(position, now);
    }
  }

  /** Rests, if that is due. */
  final void rest() {
    if (due) {
      due = false;
      while (now() - dueUntil < 0) {
        Thread.onSpinWait();
      }
    }
  }
}
