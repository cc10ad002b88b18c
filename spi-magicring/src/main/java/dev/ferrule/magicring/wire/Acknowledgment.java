// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The control message of a receiver to the sender. 24 bytes, little-endian:
 *
 * <pre>
 *  0  1  type
 *  1  3  zero
 *  4  4  how many wants were taken, ever, modulo 2^32
 *  8  8  how many messages are freed, ever
 * 16  8  how many bytes of the ring are freed with them, ever
 * </pre>
 *
 * <p>The numbers are those of a message's end: all messages up to it are freed. Each {@link #ACK}
 * has greater ones than the control message before; the others may have the same.
 *
 * <p>Nothing here allocates. Segments are read and written at any alignment.
 */
public final class Acknowledgment {

  /** How long it is, in bytes. */
  public static final int SIZE = 24;

  /** Messages were freed. */
  public static final int ACK = 1;

  /** The sender of this has closed the connection; nothing comes after this. */
  public static final int GOODBYE = 2;

  /** The sender of this lacks room for a message, and is to be told of all that is freed. */
  public static final int WANT = 3;

  /** In place of a type: these bytes are no control message. */
  public static final int NONE = 0;

  /** Offset of the type, 1 byte, and of the zeros behind it. */
  public static final int TYPE = 0;

  /** Offset of the number of wants, 4 bytes. */
  public static final int WANTS_TAKEN = 4;

  /** Offset of the number of messages, 8 bytes. */
  public static final int MESSAGES_FREED = 8;

  /** Offset of the number of bytes, 8 bytes. */
  public static final int BYTES_FREED = 16;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Acknowledgment() {}

  /**
   * Writes a control message.
   *
   * @param segment where to
   * @param offset the offset in the segment, with {@value #SIZE} bytes behind it
   * @param type {@link #ACK}, {@link #GOODBYE} or {@link #WANT}
   * @param wantsTaken how many wants were taken, ever
   * @param messagesFreed how many messages are freed, ever
   * @param bytesFreed how many bytes of the ring are freed with them, ever
   */
  public static void write(
      MemorySegment segment,
      long offset,
      int type,
      int wantsTaken,
      long messagesFreed,
      long bytesFreed) {
    segment.set(INT, offset + TYPE, type);
    segment.set(INT, offset + WANTS_TAKEN, wantsTaken);
    segment.set(LONG, offset + MESSAGES_FREED, messagesFreed);
    segment.set(LONG, offset + BYTES_FREED, bytesFreed);
  }

  /**
   * Reads what a control message says.
   *
   * @param segment where it is
   * @param offset the offset in the segment, with {@value #SIZE} bytes behind it
   * @return {@link #ACK}, {@link #GOODBYE} or {@link #WANT}; {@link #NONE} if it is none of them,
   *     or there are other bytes where zeros belong
   */
  public static int type(MemorySegment segment, long offset) {
    int type = segment.get(INT, offset + TYPE);
    return type == ACK || type == GOODBYE || type == WANT ? type : NONE;
  }

  /**
   * Reads how many wants were taken.
   *
   * @param segment where the control message is
   * @param offset the offset in the segment
   * @return the number, unchecked
   */
  public static int wantsTaken(MemorySegment segment, long offset) {
    return segment.get(INT, offset + WANTS_TAKEN);
  }

  /**
   * Reads how many messages are freed.
   *
   * @param segment where the control message is
   * @param offset the offset in the segment
   * @return the number, unchecked
   */
  public static long messagesFreed(MemorySegment segment, long offset) {
    return segment.get(LONG, offset + MESSAGES_FREED);
  }

  /**
   * Reads how many bytes of the ring are freed.
   *
   * @param segment where the control message is
   * @param offset the offset in the segment
   * @return the number, unchecked
   */
  public static long bytesFreed(MemorySegment segment, long offset) {
    return segment.get(LONG, offset + BYTES_FREED);
  }
}
