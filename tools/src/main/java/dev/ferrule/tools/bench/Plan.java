// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * What to measure.
 *
 * @param sizes the lengths of the messages, in bytes
 * @param messages how many messages per size (for the bandwidth: per round); empty for as many as
 *     fit in a short time
 * @param warmup how many messages per size to send before; empty for as many as fit in a short time
 * @param rounds how many rounds to spread the messages over
 */
public record Plan(List<Integer> sizes, OptionalLong messages, OptionalLong warmup, int rounds) {

  /** Long enough for the JIT compiler to be done with the loops. */
  private static final long FIRST_WARMUP_NANOS = 1_500_000_000;

  private static final long NEXT_WARMUP_NANOS = 300_000_000;

  /** Parts start small, for a slow transport, and grow to this long. */
  private static final long PART_NANOS = 5_000_000;

  private static final int FIRST_PART = 16;

  /** One part of the warm-up: sends a number of messages. */
  interface Part {
    void send(int count);
  }

  /**
   * Sends messages that are not measured.
   *
   * @param first whether the loops are still cold
   * @param part sends them
   * @return how long one message took in the later half, in nanoseconds; 0 if there was no warm-up
   */
  double warmUp(boolean first, Part part) {
    long left = warmup.orElse(Long.MAX_VALUE);
    long end = System.nanoTime() + (first ? FIRST_WARMUP_NANOS : NEXT_WARMUP_NANOS);
    List<Double> nanosPerMessage = new ArrayList<>();
    int count = FIRST_PART;
    while (left > 0 && (warmup.isPresent() || System.nanoTime() < end)) {
      int now = (int) Math.min(count, left);
      long before = System.nanoTime();
      part.send(now);
      long nanos = System.nanoTime() - before;
      nanosPerMessage.add(nanos / (double) now);
      left -= now;
      if (nanos < PART_NANOS) {
        count *= 2;
      }
    }
    int half = nanosPerMessage.size() / 2;
    return Medians.of(nanosPerMessage.subList(half, nanosPerMessage.size())).orElse(0);
  }
}
