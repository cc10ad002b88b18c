// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

/**
 * The bare cache line between client and server, bounced in rounds among those of the messages.
 * Belongs to the client's thread.
 */
public final class Floor implements AutoCloseable {

  private static final int BOUNCES = 20_000;
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
   *
   * @return how long the line takes from one processor to the other
   */
  public double round() {
    client.start(Round.of(Round.Kind.FLOOR, BOUNCES + 1L, 0));
    line.bounce(periods, BOUNCES);
    return Medians.ofPeriods(periods, BOUNCES) / WAYS;
  }

  @Override
  public void close() {
    line.close();
  }
}
