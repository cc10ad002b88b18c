// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Optional;

/**
 * Where everything lies in one direction's shared memory. There are two files, made by the side
 * that receives: the ring and the buffer.
 *
 * <pre>
 * ring    0     descriptor: magic, version, flags, sizes, generations      written once, before the file's name is told
 *         256   sender's line: asleep, closed                              written by the sender
 *         512   receiver's line: consumed                                  written by the receiver
 *         768   receiver's second line: asleep                             written by the receiver
 *         4096  release ring: one 4-byte entry for each freed message      written by the receiver
 *         ...   slots of 256 bytes: a 4-byte header, then an inline message or the place of one in the buffer;
 *               several short ones behind each other, each with a header
 * buffer        payload lines of 64 bytes
 * </pre>
 *
 * <p>What different sides write is at least two cache lines apart, as processors fetch lines in
 * pairs. Integers are in the machine's byte order: both sides are on one machine.
 *
 * @param slotsShift the binary logarithm of the number of slots
 * @param lines how many payload lines the buffer has
 * @param maxMessage the longest message, in bytes
 */
public record RingLayout(int slotsShift, int lines, int maxMessage) {

  /** Says that a file is a ring: "Ferrule!" in ASCII, read as a little-endian number. */
  public static final long MAGIC = 0x21656c7572726546L;

  /** The version of everything described here. */
  public static final int VERSION = 2;

  /** Bytes in a cache line, and in a payload line. */
  public static final int LINE = 64;

  /** Bytes in a slot: four lines, of which a short message touches only the first. */
  public static final int SLOT = 4 * LINE;

  /** The longest message that others may follow in its slot, in bytes: three of them fit. */
  public static final int PACKED_MAX = 80;

  /** The most slots, one behind the other, that an inline message takes. */
  public static final int INLINE_SLOTS_MAX = 8;

  /** The longest message that rides inline behind its header, in bytes; less in a small ring. */
  public static final int INLINE_MAX = INLINE_SLOTS_MAX * SLOT - Integer.BYTES;

  /** Offset in the ring: {@link #MAGIC}, 8 bytes. */
  public static final long DESCRIPTOR_MAGIC = 0;

  /** Offset in the ring: {@link #VERSION}, 4 bytes. */
  public static final long DESCRIPTOR_VERSION = 8;

  /** Offset in the ring: flags, 4 bytes; see {@link #FLAG_MEMBARRIER}. */
  public static final long DESCRIPTOR_FLAGS = 12;

  /**
   * Offset in the ring: a random number that tells this ring from any earlier one of the same name,
   * 8 bytes.
   */
  public static final long DESCRIPTOR_GENERATION = 16;

  /**
   * Offset in the ring: the generation of the opposite ring that this one answers, or 0 in the
   * connecting side's; 8 bytes.
   */
  public static final long DESCRIPTOR_PEER_GENERATION = 24;

  /** Offset in the ring: the binary logarithm of the number of slots, 4 bytes. */
  public static final long DESCRIPTOR_SLOTS_SHIFT = 32;

  /** Offset in the ring: the number of payload lines, 4 bytes. */
  public static final long DESCRIPTOR_LINES = 36;

  /** Offset in the ring: the longest message in bytes, 4 bytes. */
  public static final long DESCRIPTOR_MAX_MESSAGE = 40;

  /** How many bytes the descriptor has, the last 4 of which are 0. */
  public static final int DESCRIPTOR_SIZE = 48;

  /** Flag: the process that made the ring is registered for membarrier(2). */
  public static final int FLAG_MEMBARRIER = 1;

  /**
   * Offset in the ring: 1 while the sender sleeps and wants to be woken up when there is room; 4
   * bytes.
   */
  public static final long SENDER_ASLEEP = 256;

  /**
   * Offset in the ring: 1 when the sender has closed the connection after its last message; 4
   * bytes.
   */
  public static final long SENDER_CLOSED = 256 + 4;

  /** Offset in the ring: how many slots the receiver has taken; 8 bytes. */
  public static final long CONSUMED = 512;

  /**
   * Offset in the ring: 1 while the receiver sleeps and wants to be woken up by a message; 4 bytes.
   */
  public static final long RECEIVER_ASLEEP = 768;

  /** Offset in the ring: the release ring. */
  public static final long RELEASES = 4096;

  /** Offset in a slot: the {@link RingHeader}. */
  public static final int SLOT_HEADER = 0;

  /** Offset in a slot: the bytes of an inline message. */
  public static final int SLOT_INLINE = 4;

  /** Offset in a slot: the length of a message in lines, 4 bytes. */
  public static final int SLOT_LENGTH = 4;

  /** Offset in a slot: the first line of a message in lines, 4 bytes. */
  public static final int SLOT_LINE = 8;

  /**
   * Offset in a slot: the first line of a message of {@link RingHeader#TYPE_SHARED}, and the rest
   * of its lap; the second half of its {@link SharedWord}, 4 bytes.
   */
  public static final int SLOT_SHARED_LINE = 4;

  /**
   * Bytes that a message of {@link RingHeader#TYPE_SHARED} has before it in its first line: its
   * length, 4 bytes, and as many that say nothing.
   */
  public static final int SHARED_PREFIX = 8;

  /** The least and the greatest binary logarithm of the number of slots. */
  public static final int MIN_SLOTS_SHIFT = 2;

  /** See {@link #MIN_SLOTS_SHIFT}. */
  public static final int MAX_SLOTS_SHIFT = 16;

  /** The greatest number of payload lines: as many as a release entry can name, which is 1 GiB. */
  public static final int MAX_LINES = 1 << 24;

  static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private static final int PAGE = 4096;

  /**
   * Makes a layout.
   *
   * @throws IllegalArgumentException if the sizes are out of range, or the longest message does not
   *     fit the buffer
   */
  public RingLayout {
    if (slotsShift < MIN_SLOTS_SHIFT || slotsShift > MAX_SLOTS_SHIFT) {
      throw new IllegalArgumentException("2^" + slotsShift + " slots");
    }
    if (lines < 0 || lines > MAX_LINES) {
      throw new IllegalArgumentException(lines + " lines");
    }
    if (maxMessage < 0 || maxMessage > Math.max(inlineMax(slotsShift), (long) lines * LINE)) {
      throw new IllegalArgumentException(
          "messages of " + maxMessage + " bytes in " + lines + " lines");
    }
  }

  /**
   * Returns how many slots the ring has.
   *
   * @return a power of two
   */
  public int slots() {
    return 1 << slotsShift;
  }

  /**
   * Returns the longest message that rides inline in this ring.
   *
   * @return the limit in bytes; {@link #INLINE_MAX}, or less if that were more than a quarter of
   *     the ring
   */
  public int inlineMax() {
    return inlineMax(slotsShift);
  }

  /**
   * Returns the longest message that rides inline.
   *
   * @param slotsShift the binary logarithm of the number of slots
   * @return the limit in bytes
   */
  public static int inlineMax(int slotsShift) {
    return inlineSlotsMax(slotsShift) * SLOT - Integer.BYTES;
  }

  private static int inlineSlotsMax(int slotsShift) {
    return Math.min(INLINE_SLOTS_MAX, (1 << slotsShift) / 4);
  }

  /**
   * Returns how many slots an inline message takes at most in this ring.
   *
   * @return the number of slots
   */
  public int inlineSlotsMax() {
    return inlineSlotsMax(slotsShift);
  }

  /**
   * Returns how many slots an inline message takes.
   *
   * @param length the message's length in bytes
   * @return the number of slots
   */
  public static int slotsFor(int length) {
    return (length + Integer.BYTES + SLOT - 1) / SLOT;
  }

  /**
   * Returns how many bytes an inline message takes of its slot, header and gap behind it included.
   *
   * @param length the message's length in bytes
   * @return the number of bytes, by which the next header has its place
   */
  public static int inSlotFor(int length) {
    return length + 2 * Integer.BYTES - 1 & -Integer.BYTES;
  }

  /**
   * Returns where in its slot a message is followed by another header: right behind it, if a
   * message as long as itself would fit there. So messages of one length fill a slot without a
   * header that says that it ends.
   *
   * @param offset where in the slot the message's header is
   * @param length the message's length in bytes
   * @return the offset of the next header in the slot; 0 if it is that of the next slot
   */
  public static int nextInSlot(int offset, int length) {
    int size = inSlotFor(length);
    return length <= PACKED_MAX && offset + 2 * size <= SLOT ? offset + size : 0;
  }

  /**
   * Returns how many entries the release ring has: as many as there can be messages in lines that
   * are in the ring or lent out.
   *
   * @return a power of two
   */
  public int releases() {
    return 2 << slotsShift;
  }

  /**
   * Returns the offset in the ring of the first slot.
   *
   * @return the offset in bytes, on a page of its own
   */
  public long slotsOffset() {
    return RELEASES + roundUp(releases() * 4L);
  }

  /**
   * Returns the size of the ring's file.
   *
   * @return the size in bytes
   */
  public long ringSize() {
    return slotsOffset() + ((long) SLOT << slotsShift);
  }

  /**
   * Returns the size of the buffer's file; at least a page, as an empty file cannot be mapped.
   *
   * @return the size in bytes
   */
  public long bufferSize() {
    return Math.max(PAGE, roundUp((long) lines * LINE));
  }

  /**
   * Returns how many lines a message takes.
   *
   * @param length the message's length in bytes
   * @return the number of lines
   */
  public static int linesFor(int length) {
    return (int) ((length + (long) LINE - 1) / LINE);
  }

  /**
   * Returns how many lines a message of {@link RingHeader#TYPE_SHARED} takes, with its prefix.
   *
   * @param length the message's length in bytes, at most {@link #maxSharedMessage}
   * @return the number of lines
   */
  public static int sharedLinesFor(int length) {
    return linesFor(length + SHARED_PREFIX);
  }

  /**
   * Returns the longest message that several threads can send: there has to be room for its prefix
   * in the buffer.
   *
   * @return the limit in bytes; negative if there are no lines
   */
  public int maxSharedMessage() {
    return (int) Math.min(maxMessage, (long) lines * LINE - SHARED_PREFIX);
  }

  /**
   * Writes the descriptor. The magic number goes last, so that nobody takes a half-written
   * descriptor for one.
   *
   * @param ring the new ring, zeroed
   * @param flags the flags
   * @param generation the ring's generation, not 0
   * @param peerGeneration the generation of the opposite ring, or 0
   */
  public void writeDescriptor(MemorySegment ring, int flags, long generation, long peerGeneration) {
    INT.set(ring, DESCRIPTOR_VERSION, VERSION);
    INT.set(ring, DESCRIPTOR_FLAGS, flags);
    LONG.set(ring, DESCRIPTOR_GENERATION, generation);
    LONG.set(ring, DESCRIPTOR_PEER_GENERATION, peerGeneration);
    INT.set(ring, DESCRIPTOR_SLOTS_SHIFT, slotsShift);
    INT.set(ring, DESCRIPTOR_LINES, lines);
    INT.set(ring, DESCRIPTOR_MAX_MESSAGE, maxMessage);
    LONG.setRelease(ring, DESCRIPTOR_MAGIC, MAGIC);
  }

  /**
   * What a ring says of itself.
   *
   * @param layout its layout, valid in itself
   * @param flags its flags
   * @param generation its generation
   * @param peerGeneration the generation of the opposite ring, or 0
   */
  public record Descriptor(RingLayout layout, int flags, long generation, long peerGeneration) {}

  /**
   * Reads a descriptor that another process wrote, trusting nothing: each field once, and checked.
   *
   * @param ring at least {@link #DESCRIPTOR_SIZE} bytes
   * @return the descriptor; empty if it is not one of this version that could be right
   */
  public static Optional<Descriptor> readDescriptor(MemorySegment ring) {
    if ((long) LONG.getAcquire(ring, DESCRIPTOR_MAGIC) != MAGIC
        || (int) INT.get(ring, DESCRIPTOR_VERSION) != VERSION) {
      return Optional.empty();
    }
    int flags = (int) INT.get(ring, DESCRIPTOR_FLAGS);
    long generation = (long) LONG.get(ring, DESCRIPTOR_GENERATION);
    long peerGeneration = (long) LONG.get(ring, DESCRIPTOR_PEER_GENERATION);
    int slotsShift = (int) INT.get(ring, DESCRIPTOR_SLOTS_SHIFT);
    int lines = (int) INT.get(ring, DESCRIPTOR_LINES);
    int maxMessage = (int) INT.get(ring, DESCRIPTOR_MAX_MESSAGE);
    try {
      return Optional.of(
          new Descriptor(
              new RingLayout(slotsShift, lines, maxMessage), flags, generation, peerGeneration));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static long roundUp(long size) {
    return (size + PAGE - 1) & -PAGE;
  }
}
