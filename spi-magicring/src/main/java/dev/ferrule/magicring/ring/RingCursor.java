// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import dev.ferrule.magicring.wire.RingOffer;

/**
 * Where in a ring the next message goes. Both sides have one and move it by each message's length,
 * in the order in which messages are sent; so they find the same places without telling each other.
 *
 * <p>The position counts all bytes that were ever taken, and only grows. The offset in the ring is
 * kept beside it, for the size need not be a power of two, and a division for each message would
 * cost more than the rest. A message takes its length rounded up to {@value #ALIGNMENT} bytes; so
 * every message is aligned to that, and one without bytes takes nothing.
 *
 * <p>Not for several threads at once.
 */
public final class RingCursor {

  /** To how many bytes messages are aligned. */
  public static final int ALIGNMENT = 8;

  private final long size;
  private final Mapping mapping;
  private long position;
  private long offset;

  /**
   * Starts at the beginning of a ring.
   *
   * @param size its size in bytes, a multiple of {@link RingOffer#UNIT}
   * @param mapping how it is mapped
   * @throws IllegalArgumentException if the size is not one
   */
  public RingCursor(long size, Mapping mapping) {
    if (!RingOffer.isRingSize(size)) {
      throw new IllegalArgumentException(
          "a ring of " + size + " bytes, which is not a multiple of " + RingOffer.UNIT);
    }
    this.size = size;
    this.mapping = mapping;
  }

  /**
   * Returns what a message takes, apart from {@linkplain #paddingFor padding}.
   *
   * @param length its length in bytes, not negative
   * @return the number of bytes
   */
  public static long rounded(int length) {
    return (length + (ALIGNMENT - 1L)) & -ALIGNMENT;
  }

  /**
   * Returns how many bytes were taken, ever.
   *
   * @return the number of bytes
   */
  public long position() {
    return position;
  }

  /**
   * Returns where the next message starts, unless there has to be {@linkplain #paddingFor padding}
   * before it.
   *
   * @return the offset in the ring, less than its size
   */
  public long offset() {
    return offset;
  }

  /**
   * Returns how many bytes are skipped before a message.
   *
   * @param length its length in bytes, not negative
   * @return all that is left up to the ring's end, or 0
   */
  public long paddingFor(int length) {
    long left = size - offset;
    return mapping == Mapping.PLAIN && rounded(length) > left ? left : 0;
  }

  /**
   * Returns how many bytes a message takes if it is the next one, with the padding before it.
   *
   * @param length its length in bytes, not negative
   * @return the number of bytes; not less than for any shorter message
   */
  public long costOf(int length) {
    return paddingFor(length) + rounded(length);
  }

  /**
   * Moves behind a message.
   *
   * @param length its length in bytes, not negative and at most {@link Mapping#longest}
   * @return the offset in the ring at which the message starts
   */
  public long advance(int length) {
    long padding = paddingFor(length);
    long start = padding > 0 ? 0 : offset;
    long taken = rounded(length);
    position += padding + taken;
    long end = start + taken;
    offset = end >= size ? end - size : end;
    return start;
  }
}
