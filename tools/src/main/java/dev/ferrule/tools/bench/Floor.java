// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

/**
 * The bare cache line between client and server, bounced in rounds among those of the messages.
 * Belongs to the client's thread.
 */
public final class Floor implements AutoCloseable {

  private static final int BOUNCES = 20_000;
  private static final int FEW_BOUNCES = 2_000;
  private static final long WARMUP_NANOS = 500_000_000;
  private static final double WAYS = 2;

  private final BenchClient client;
  private final CacheLine line;
  private final long[] periods = new long[BOUNCES];

  Floor(BenchClient client, CacheLine line) {
    this.client = client;
    this.line = line;
  }

  /** Bounces the line for as long as the JIT compiler wants, half a second. */
  public void warmUp() {
    long end = System.nanoTime() + WARMUP_NANOS;
    while (System.nanoTime() < end) {
      round();
    }
  }

  /**
   * Bounces the line for some milliseconds. Returns the median of half the way there and back, in
   * nanoseconds.
   */
  double round() {
    return round(BOUNCES);
  }

  /**
   * Bounces the line for less than a millisecond, or a few.
   *
   * @return the median of half the way there and back, in nanoseconds
   */
  public double look() {
    return round(FEW_BOUNCES);
  }

  private double round(int bounces) {
    client.start(Round.of(Round.Kind.FLOOR, bounces + 1L, 0));
    line.bounce(periods, bounces);
    return Medians.ofPeriods(periods, bounces) / WAYS;
  }

  @Override
  public void close() {
    line.close();
  }
}
