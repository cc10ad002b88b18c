// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;

/**
 * One cache line in a file that two processes map, bounced between a thread of each: the floor of
 * every latency over shared memory. One side writes odd numbers; the other answers each with the
 * next even number.
 */
final class CacheLine implements AutoCloseable {

  private static final VarHandle VALUE = ValueLayout.JAVA_LONG.varHandle();

  /** Mapped memory starts at a page boundary, so there is no false sharing. */
  private static final long BYTES = 64;

  /** Polls of an unchanged line before a check of the peer: some milliseconds. */
  private static final int POLLS_BEFORE_CHECK = 1 << 22;

  private static final long FOREVER = Long.MAX_VALUE;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment line;
  private final Runnable peerCheck;

  /**
   * Maps a file, which must have at least the length of a line, since mapping would extend a
   * shorter one. The check is called at intervals during a long wait, and throws if the connection
   * has ended.
   */
  CacheLine(Path file, Runnable peerCheck) throws IOException {
    this.peerCheck = peerCheck;
    try {
      line = FloorFile.map(file, 0, BYTES, arena);
    } catch (IOException | RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  /**
   * Bounces the line; the peer must {@link #answer} one bounce more than the given number. The
   * first round trip starts the clock and is not timed.
   */
  void bounce(long[] periods, int count) {
    MemorySegment memory = line;
    long value = (long) VALUE.getAcquire(memory, 0L);
    long before = 0;
    for (int i = -1; i < count; i++) {
      VALUE.setRelease(memory, 0L, value + 1);
      // As in PingPong, the clock is read while the line is in flight, so it adds no time.
      long now = System.nanoTime();
      if (i >= 0) {
        periods[i] = now - before;
      }
      before = now;
      value += 2;
      await(memory, value, FOREVER);
    }
  }

  /**
   * Answers bounces. Spins for each, and therefore throws if one does not arrive within the time
   * limit.
   */
  void answer(long count, long limitNanos) {
    MemorySegment memory = line;
    // The first bounce may have arrived already. The line then has the odd number of that bounce,
    // otherwise the even number of the last answer.
    long value = ((long) VALUE.getAcquire(memory, 0L) & ~1L) + 1;
    for (long i = 0; i < count; i++) {
      await(memory, value, limitNanos);
      VALUE.setRelease(memory, 0L, value + 1);
      value += 2;
    }
  }

  /**
   * Spins until the line has a value. Throws after a time limit, which starts at the first check.
   */
  private void await(MemorySegment memory, long value, long limitNanos) {
    int polls = 0;
    long end = 0;
    while ((long) VALUE.getAcquire(memory, 0L) != value) {
      if (++polls == POLLS_BEFORE_CHECK) {
        polls = 0;
        peerCheck.run();
        long now = System.nanoTime();
        if (end == 0) {
          end = now + limitNanos;
        } else if (now - end >= 0) {
          throw new ToolException(
              ExitCode.CONNECTION_LOST, "the client stopped bouncing the cache line");
        }
      }
    }
  }

  @Override
  public void close() {
    arena.close();
  }
}
