// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import dev.ferrule.magicring.wire.RingOffer;

/**
 * Computes the place of the next message in a ring. Both sides advance a cursor by the length of
 * each message, in the order in which messages are sent. So both compute the same places without
 * exchanging them.
 *
 * <p>The position counts all bytes ever taken and never decreases. The offset in the ring is kept
 * separately: the size need not be a power of two, and a division per message would cost more than
 * everything else. A message takes its length rounded up to {@value #ALIGNMENT} bytes, so every
 * message has that alignment. An empty message takes {@value #ALIGNMENT} bytes, so that no message
 * can arrive in a ring without free bytes.
 *
 * <p>Not thread-safe.
 */
public final class RingCursor {

  /** The alignment of messages, in bytes. */
  public static final int ALIGNMENT = 8;

  private final long size;
  private final Mapping mapping;
  private long position;
  private long offset;

  /**
   * Creates a cursor at the start of a ring.
   *
   * @param size the ring's size in bytes, a multiple of {@link RingOffer#UNIT}
   * @param mapping the ring's mapping
   * @throws IllegalArgumentException if the size is invalid
   */
  public RingCursor(long size, Mapping mapping) {
    if (!RingOffer.isRingSize(size)) {
      throw new IllegalArgumentException(
          "invalid ring size: " + size + " bytes; it must be a multiple of " + RingOffer.UNIT);
    }
    this.size = size;
    this.mapping = mapping;
  }

  /**
   * Returns how many bytes a message takes, without {@linkplain #paddingFor padding}.
   *
   * @param length its length in bytes, not negative
   * @return the number of bytes, not 0
   */
  public static long rounded(int length) {
    return Math.max(ALIGNMENT, (length + (ALIGNMENT - 1L)) & -ALIGNMENT);
  }

  /** {@return the total number of bytes taken} */
  public long position() {
    return position;
  }

  /**
   * Returns the offset of the next message, unless it needs {@linkplain #paddingFor padding}.
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
   * @return the bytes up to the ring's end, or 0
   */
  public long paddingFor(int length) {
    long left = size - offset;
    return mapping == Mapping.PLAIN && rounded(length) > left ? left : 0;
  }

  /**
   * Returns how many bytes the next message would take, with the padding before it.
   *
   * @param length its length in bytes, not negative
   * @return the number of bytes; does not decrease with the length
   */
  public long costOf(int length) {
    return paddingFor(length) + rounded(length);
  }

  /**
   * Advances the cursor past a message.
   *
   * @param length its length in bytes, not negative and at most {@link Mapping#longest}
   * @return the offset of the message in the ring
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
