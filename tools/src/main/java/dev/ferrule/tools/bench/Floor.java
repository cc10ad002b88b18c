// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.io.IOException;

/**
 * The bare cache line and the bare ring between client and server, measured in rounds interleaved
 * with those of the messages. Used only by the client's measuring thread.
 */
public final class Floor implements AutoCloseable {

  private static final int BOUNCES = 20_000;
  private static final int FEW_BOUNCES = 2_000;

  // On busy processors a bounce may take a time slice of milliseconds. If the first bounces are
  // slow, the round ends with them.
  private static final int FIRST_BOUNCES = 128;
  private static final long SLOW_NANOS = 20_000_000;

  private static final long WARMUP_NANOS = 500_000_000;
  private static final double WAYS = 2;

  /** A round on the ring has fewer bounces for large messages: at most this number of bytes. */
  private static final long RING_BOUNCED_BYTES = 1024L * BOUNCES;

  private static final long RING_WARMUP_NANOS = 300_000_000;
  private static final int FIRST_STREAM = 256;
  private static final long STREAM_NANOS = 5_000_000;

  private final BenchClient client;
  private final CacheLine line;
  private final BareRing ring;
  private final long[] periods = new long[BOUNCES];

  private Floor(BenchClient client, CacheLine line, BareRing ring) {
    this.client = client;
    this.line = line;
    this.ring = ring;
  }

  /**
   * Maps a file created by the server. The check is called at intervals during a long wait, and
   * throws if the connection has ended.
   */
  static Floor open(BenchClient client, FloorFile file, Runnable peerCheck) throws IOException {
    CacheLine line = new CacheLine(file.path(), peerCheck);
    try {
      return new Floor(client, line, BareRing.ofClient(file.path(), peerCheck));
    } catch (IOException | RuntimeException e) {
      line.close();
      throw e;
    }
  }

  /** Returns whether messages of the given size fit in the bare ring. */
  static boolean ringTakes(int size) {
    return size <= BareRing.MAX_PAYLOAD;
  }

  /** Bounces the line for half a second, until the JIT compiler has compiled the loop. */
  public void warmUp() {
    long end = System.nanoTime() + WARMUP_NANOS;
    while (System.nanoTime() < end) {
      round();
    }
  }

  /**
   * Bounces the line for some milliseconds. Returns the median of half the round trip, in
   * nanoseconds.
   */
  double round() {
    return bounce(Round.Kind.FLOOR, 0, BOUNCES);
  }

  /**
   * Bounces the line for about a millisecond.
   *
   * @return the median of half the round trip, in nanoseconds
   */
  public double shortRound() {
    return bounce(Round.Kind.FLOOR, 0, FEW_BOUNCES);
  }

  private double bounce(Round.Kind kind, int size, int bounces) {
    long start = System.nanoTime();
    double median = bounceExactly(kind, size, Math.min(FIRST_BOUNCES, bounces));
    return System.nanoTime() - start > SLOW_NANOS ? median : bounceExactly(kind, size, bounces);
  }

  private double bounceExactly(Round.Kind kind, int size, int bounces) {
    client.start(Round.of(kind, bounces + 1L, size));
    if (kind == Round.Kind.FLOOR) {
      line.bounce(periods, bounces);
    } else {
      ring.bounce(periods, bounces, size);
    }
    return Medians.ofPeriods(periods, bounces) / WAYS;
  }

  /** Bounces messages on the bare ring until the JIT compiler has compiled the loop. */
  void warmUpRing(int size) {
    long end = System.nanoTime() + RING_WARMUP_NANOS;
    while (System.nanoTime() < end) {
      ringRound(size);
    }
  }

  /**
   * Bounces messages on the bare ring for some milliseconds. Returns the median of half the round
   * trip, in nanoseconds.
   */
  double ringRound(int size) {
    int bounces = (int) Math.min(BOUNCES, RING_BOUNCED_BYTES / Math.max(1, size));
    return bounce(Round.Kind.RING_ECHO, size, bounces);
  }

  /**
   * Sends messages through the bare ring until the JIT compiler has compiled the loop. Returns the
   * time of one message in the last stream, in nanoseconds.
   */
  double warmUpStream(int size) {
    long end = System.nanoTime() + RING_WARMUP_NANOS;
    long count = FIRST_STREAM;
    double nanos;
    do {
      nanos = stream(size, count);
      if (nanos < STREAM_NANOS) {
        count *= 2;
      }
    } while (System.nanoTime() < end);
    return nanos / count;
  }

  /**
   * Sends messages through the bare ring, one after another. Returns the time until all have been
   * received, in nanoseconds.
   */
  long stream(int size, long count) {
    client.start(Round.of(Round.Kind.RING_SINK, count, size));
    long nanos = ring.stream(count, size);
    RoundReply reply = client.awaitReply();
    if (!reply.equals(new RoundReply(true, count, count * size, 0))) {
      throw client.corrupt(
          count + " messages were sent through the bare ring, " + reply.wrong() + " were corrupt");
    }
    return nanos;
  }

  @Override
  public void close() {
    try {
      line.close();
    } finally {
      ring.close();
    }
  }
}
