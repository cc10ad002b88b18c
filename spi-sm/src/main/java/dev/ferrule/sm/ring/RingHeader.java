// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

/**
 * The 4-byte header at the start of each slot of the ring, and before each further message in it.
 * From the least significant bit: 4 bits type, 12 bits lap, 16 bits length.
 *
 * <p>The lap is how often the ring has been gone round, starting at 1. A slot holds a message for
 * the receiver exactly when its lap is the one the receiver is in, so one store publishes a message
 * and there is no lock bit that a dying producer could leave set. In a header of {@link
 * #TYPE_SHARED} there is more of the lap in place of the length.
 */
public final class RingHeader {

  /** No message: nothing was written there, or the sender has zeroed it. */
  public static final int TYPE_EMPTY = 0;

  /** A message whose bytes follow the header; the header's length is the message's. */
  public static final int TYPE_INLINE = 1;

  /**
   * A message in payload lines; the slot holds a {@link RingLayout#SLOT_LENGTH length} and a {@link
   * RingLayout#SLOT_LINE line}.
   */
  public static final int TYPE_LINES = 2;

  /** No message: the rest of the ring is left out; the header's length is its number of slots. */
  public static final int TYPE_PADDING = 3;

  /**
   * A message of one of several threads, in payload lines. The header is a part of the slot's
   * {@link SharedWord}, which says where they are.
   */
  public static final int TYPE_SHARED = 4;

  /** No message: the rest of a slot that has messages is left out; the header's length is 0. */
  public static final int TYPE_END = 5;

  /** How many laps there are before they repeat. */
  public static final int LAPS = 1 << 12;

  private static final int TYPE_MASK = 0xf;
  private static final int LAP_SHIFT = 4;
  private static final int LENGTH_SHIFT = 16;

  private RingHeader() {}

  /**
   * Makes a header.
   *
   * @param type one of the types
   * @param lap the lap, see {@link #lap(long, int)}
   * @param length 0 to 65,535
   * @return the header
   */
  public static int of(int type, int lap, int length) {
    return type | lap << LAP_SHIFT | length << LENGTH_SHIFT;
  }

  /**
   * Returns a header's type.
   *
   * @param header the header
   * @return 0 to 15
   */
  public static int type(int header) {
    return header & TYPE_MASK;
  }

  /**
   * Returns a header's lap.
   *
   * @param header the header
   * @return 0 to LAPS - 1
   */
  public static int lap(int header) {
    return header >>> LAP_SHIFT & LAPS - 1;
  }

  /**
   * Returns a header's length.
   *
   * @param header the header
   * @return 0 to 65,535
   */
  public static int length(int header) {
    return header >>> LENGTH_SHIFT;
  }

  /**
   * Returns the lap that a position of the ring is in.
   *
   * @param position how many slots were used before
   * @param slotsShift the binary logarithm of the number of slots
   * @return 0 to LAPS - 1; the first lap is 1
   */
  public static int lap(long position, int slotsShift) {
    return (int) ((position >>> slotsShift) + 1) & LAPS - 1;
  }
}
