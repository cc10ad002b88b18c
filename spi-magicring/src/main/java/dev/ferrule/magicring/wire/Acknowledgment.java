// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A control message from a receiver to the sender. 24 bytes, little-endian:
 *
 * <pre>
 *  0  1  type
 *  1  3  zero
 *  4  4  total wants received, modulo 2^32
 *  8  8  total messages freed
 * 16  8  total bytes of the ring freed with them
 * </pre>
 *
 * <p>The numbers of messages and bytes denote the end of a message: all messages up to it are
 * freed. Each {@link #ACK} has greater numbers than the control message before it; the others may
 * repeat them.
 *
 * <p>No method allocates. Segments are read and written at any alignment.
 */
public final class Acknowledgment {

  /** The size of a control message, in bytes. */
  public static final int SIZE = 24;

  /** Acknowledges freed messages. */
  public static final int ACK = 1;

  /** The sender of this message has closed the connection and sends nothing more. */
  public static final int GOODBYE = 2;

  /** The sender of this message lacks space and requests an acknowledgment of everything freed. */
  public static final int WANT = 3;

  /** The sender of this message sends no further message into the ring. */
  public static final int END = 4;

  /** Returned instead of a type if the bytes are not a control message. */
  public static final int NONE = 0;

  /** Offset of the type, 1 byte, and of the zeros after it. */
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
   * @param segment the target segment
   * @param offset the offset in the segment; {@value #SIZE} bytes must follow
   * @param type {@link #ACK}, {@link #GOODBYE}, {@link #WANT} or {@link #END}
   * @param wantsTaken the total number of wants received
   * @param messagesFreed the total number of messages freed
   * @param bytesFreed the total number of bytes of the ring freed with them
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
   * Reads the type of a control message.
   *
   * @param segment the segment that contains the control message
   * @param offset the offset in the segment; {@value #SIZE} bytes must follow
   * @return {@link #ACK}, {@link #GOODBYE}, {@link #WANT} or {@link #END}; {@link #NONE} if it is
   *     none of them, or a reserved byte is not zero
   */
  public static int type(MemorySegment segment, long offset) {
    int type = segment.get(INT, offset + TYPE);
    return type >= ACK && type <= END ? type : NONE;
  }

  /**
   * Reads the number of wants received.
   *
   * @param segment the segment that contains the control message
   * @param offset the offset in the segment
   * @return the number, not validated
   */
  public static int wantsTaken(MemorySegment segment, long offset) {
    return segment.get(INT, offset + WANTS_TAKEN);
  }

  /**
   * Reads the number of messages freed.
   *
   * @param segment the segment that contains the control message
   * @param offset the offset in the segment
   * @return the number, not validated
   */
  public static long messagesFreed(MemorySegment segment, long offset) {
    return segment.get(LONG, offset + MESSAGES_FREED);
  }

  /**
   * Reads the number of bytes of the ring freed.
   *
   * @param segment the segment that contains the control message
   * @param offset the offset in the segment
   * @return the number, not validated
   */
  public static long bytesFreed(MemorySegment segment, long offset) {
    return segment.get(LONG, offset + BYTES_FREED);
  }
}
