// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

/**
 * The memory that a node needs to receive, in bytes, by the providers' formulas; see
 * docs/protocol-sendrecv.md and docs/protocol-magicring.md. Does not include the memory that a
 * connection needs to send, which is {@link #sendBytes}.
 *
 * @param window the number of messages that a ring holds
 */
public record Memory(
    long maxMessage, int receives, int sharedReceives, long ringBytes, int window) {

  private static final long LINE = 64;
  private static final long PAGE = 4096;
  private static final int CONTROL_RECEIVES = 4;
  private static final int RING_CONTROL_RECEIVES = 18;
  private static final long COMPLETION = 64;
  private static final long HEAP_PER_SHARED_CREDIT = 12;
  private static final int LEAST_LARGEST_SHARE = 32;
  private static final int MOST_LARGEST_SHARE = 1024;
  private static final long LEAST_AREA = 256 << 10;
  private static final long MOST_AREA = 64 << 20;
  private static final long AREA_FOR_ALL = 4 << 20;
  private static final int LONGEST_PER_AREA = 64;
  private static final int LEAST_LONGEST_PER_AREA = 4;
  private static final long ROOM = 4 << 20;
  private static final long SHARED_ROOM = 16 << 20;

  /** Replaces 0 by the provider's default. */
  public Memory {
    long buffer = roundUp(maxMessage, LINE);
    receives = receives > 0 ? receives : Math.clamp(ROOM / buffer, 8, 256);
    sharedReceives =
        sharedReceives > 0 ? sharedReceives : Math.clamp(SHARED_ROOM / buffer, 64, 4096);
    ringBytes = roundUp(Math.max(ringBytes > 0 ? ringBytes : area(maxMessage), maxMessage), PAGE);
  }

  private static long roundUp(long value, long unit) {
    return (value + unit - 1) / unit * unit;
  }

  private static long area(long maxMessage) {
    long all = Math.min(LONGEST_PER_AREA * maxMessage, AREA_FOR_ALL);
    return Math.clamp(Math.max(all, LEAST_LONGEST_PER_AREA * maxMessage), LEAST_AREA, MOST_AREA);
  }

  /**
   * Returns the memory if each connection has its own receive buffers, including the entries of its
   * completion queue: {@code N (k + 4) (maxMessage + 64)}.
   */
  public long ownBufferBytes(long connections) {
    return connections
        * ((long) receives + CONTROL_RECEIVES)
        * (roundUp(maxMessage, LINE) + COMPLETION);
  }

  /**
   * Returns the memory if all connections share one receive queue and its completion queue, which
   * do not grow with the number of connections. Each connection keeps the numbers of its messages
   * on the heap, up to its largest share.
   */
  public long sharedBufferBytes(long connections) {
    long largestShare =
        Math.min(
            sharedReceives,
            Math.clamp(sharedReceives / 2, LEAST_LARGEST_SHARE, MOST_LARGEST_SHARE));
    return sharedReceives * (roundUp(maxMessage, LINE) + COMPLETION)
        + connections * largestShare * HEAP_PER_SHARED_CREDIT;
  }

  /**
   * Returns the memory if each connection has a ring, including its posted receives, each of which
   * holds only an acknowledgment, and the entries of its completion queue.
   */
  public long ringMemoryBytes(long connections) {
    return connections * (ringBytes + (LINE + COMPLETION) * (2L * window + RING_CONTROL_RECEIVES));
  }

  /** Returns the memory of the send buffers, for any provider. */
  public long sendBytes(long connections) {
    return connections * area(maxMessage);
  }
}
