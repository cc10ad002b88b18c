// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

/**
 * The shared memory that {@code sm} connections occupy, in both directions, if both sides have the
 * same options; see {@code docs/guide-sm.md}, Memory. All of it is allocated when they are created.
 *
 * @param ring the option {@code ring}, in bytes: a power of two, at least 4096
 */
public record SharedMemory(long maxMessage, int ring) {

  private static final long PAGE = 4096;
  private static final long RELEASE_ENTRY = 4;
  private static final int RECORDS_FOR_RELEASE = 128; // bytes
  private static final int LONGEST_INLINE = 4096;
  private static final int HEADER = 8;
  private static final int MESSAGES_IN_BUFFER = 4;
  private static final long LEAST_BUFFER = 64 << 10;
  private static final long MOST_BUFFER = 1L << 30;
  private static final long RMA = 20 << 10;

  private static long pages(long bytes) {
    return (bytes + PAGE - 1) / PAGE * PAGE;
  }

  /** {@return the size of the ring of one direction in bytes} */
  public long ringBytes() {
    return PAGE + pages(RELEASE_ENTRY * ring / RECORDS_FOR_RELEASE) + ring;
  }

  /** Returns the longest inline message: a record takes at most an eighth of the ring. */
  private long longestInline() {
    return Math.min(LONGEST_INLINE, ring / 8 - HEADER);
  }

  /**
   * {@return the size in bytes of the payload lines of one direction, for messages that are not
   * inline; a page if all are}
   */
  public long bufferBytes() {
    if (maxMessage <= longestInline()) {
      return PAGE;
    }
    return pages(Math.clamp(MESSAGES_IN_BUFFER * maxMessage, LEAST_BUFFER, MOST_BUFFER));
  }

  public long bytes(long connections) {
    return connections * 2 * (ringBytes() + bufferBytes() + RMA);
  }
}
