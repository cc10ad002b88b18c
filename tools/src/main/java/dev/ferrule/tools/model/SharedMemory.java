// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

/**
 * How much shared memory connections of {@code sm} take, both directions of each, if both sides
 * have the same options; see {@code docs/sm.md}, Memory. All of it is allocated when they are made.
 *
 * @param maxMessage the longest message in bytes, at least 1
 * @param slots how many slots each ring has, a power of two
 */
public record SharedMemory(long maxMessage, int slots) {

  private static final long PAGE = 4096;
  private static final long SLOT = 256;
  private static final long RELEASES_PER_SLOT = 8;
  private static final int LONGEST_INLINE = 2044;
  private static final int HEADER = 4;
  private static final int MESSAGES_IN_BUFFER = 4;
  private static final long LEAST_BUFFER = 64 << 10;
  private static final long MOST_BUFFER = 1L << 30;
  private static final long RMA = 20 << 10;

  private static long pages(long bytes) {
    return (bytes + PAGE - 1) / PAGE * PAGE;
  }

  /**
   * The ring of one direction.
   *
   * @return bytes
   */
  public long ringBytes() {
    return PAGE + pages(RELEASES_PER_SLOT * slots) + SLOT * slots;
  }

  /** In a small ring a message takes a quarter of the slots at most. */
  private long longestInline() {
    return Math.min(LONGEST_INLINE, SLOT * slots / 4 - HEADER);
  }

  /**
   * The payload lines of one direction, for messages that do not ride inline.
   *
   * @return bytes
   */
  public long bufferBytes() {
    return maxMessage <= longestInline()
        ? PAGE
        : pages(Math.clamp(MESSAGES_IN_BUFFER * maxMessage, LEAST_BUFFER, MOST_BUFFER));
  }

  /**
   * All of some connections.
   *
   * @param connections how many
   * @return bytes
   */
  public long bytes(long connections) {
    return connections * 2 * (ringBytes() + bufferBytes() + RMA);
  }
}
