// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Optional;

/**
 * The layout of one direction's memory, which the receiving side creates: the ring, then the
 * payload lines.
 *
 * <pre>
 * ring    0     descriptor: magic, version, flags, sizes, generations   written once, by the receiver
 *         256   sender's line: asleep, closed, lanes, ended             written by the sender
 *         512   receiver's line: consumed, held                         written by the receiver
 *         768   receiver's second line: asleep                          written by the receiver
 *         4096  release ring: a 4-byte entry for each freed run         written by the receiver
 *         ...   records: a header of 8 bytes each, and the payload of   written by the sender
 *               an inline message                                       (the receiver may clear
 *                                                                       what it has consumed)
 * lines         payload lines of 64 bytes                               written by the sender
 * </pre>
 *
 * <p>Fields written by different sides are at least two cache lines apart, as processors prefetch
 * lines in pairs. Integers are in the machine's byte order: both sides are on one machine.
 *
 * @param ringShift the binary logarithm of the size of the records in bytes
 * @param lines the number of payload lines
 * @param maxMessage the longest message, in bytes
 */
public record RingLayout(int ringShift, int lines, int maxMessage) {

  /** "Ferrule!" in ASCII, read as a little-endian number. */
  static final long MAGIC = 0x21656c7572726546L;

  /** The version of this layout. */
  static final int VERSION = 3;

  /** Bytes in a cache line, and in a payload line. */
  public static final int LINE = 64;

  /** Bytes of a record's header. A record begins at a multiple of this. */
  static final int HEADER = Long.BYTES;

  /** The longest message that any ring carries inline, in bytes. */
  public static final int INLINE_MAX = 4096;

  // The descriptor: offsets in the ring.
  static final long DESCRIPTOR_MAGIC = 0; // 8 bytes
  static final long DESCRIPTOR_VERSION = 8; // 4 bytes
  static final long DESCRIPTOR_FLAGS = 12; // 4 bytes
  static final long DESCRIPTOR_GENERATION = 16; // a random number, another for each ring; 8 bytes
  static final long DESCRIPTOR_PEER_GENERATION = 24; // of the ring it answers, or 0; 8 bytes
  static final long DESCRIPTOR_RING_SHIFT = 32; // binary logarithm of the records' bytes; 4 bytes
  static final long DESCRIPTOR_LINES = 36; // number of payload lines; 4 bytes

  /** Offset in the ring: the longest message in bytes, 4 bytes. */
  public static final long DESCRIPTOR_MAX_MESSAGE = 40;

  static final long DESCRIPTOR_LANES = 44; // number of lanes, in the first ring; 4 bytes

  /** Size of the descriptor in bytes. */
  public static final int DESCRIPTOR_SIZE = 48;

  /** Flag: the process that created the ring is registered for membarrier(2). */
  public static final int FLAG_MEMBARRIER = 1;

  /**
   * A flag: the receiver's program uses readiness, so this ring's sender and the opposite ring's
   * receiver run fences.
   */
  public static final int FLAG_READINESS = 2;

  /** Offset in the ring: not 0 while the sender sleeps until there is room; 4 bytes. */
  static final long SENDER_ASLEEP = 256;

  /**
   * Offset in the ring: the reason why the sender has closed the connection, not 0, once it has
   * published its last message; 4 bytes.
   */
  public static final long SENDER_CLOSED = 256 + 4;

  /** Offset in the first ring: a bit for each lane in which the peer has begun to send; 8 bytes. */
  public static final long SENDER_LANES = 256 + 8;

  /**
   * Offset in the first ring: 1 when all of the sender's lanes and its first ring have no further
   * message, while the connection may stay open; else 0; 4 bytes.
   */
  public static final long SENDER_ENDED = 256 + 16;

  /** Offset in the ring: the total bytes of records that the receiver has consumed; 8 bytes. */
  static final long CONSUMED = 512;

  /**
   * Offset in the ring: the consumed record whose payload the receiver's program still holds, see
   * {@link HeldRecord}; 0 if there is none; 8 bytes.
   */
  static final long HELD = 512 + 8;

  /**
   * Offset in the ring: not 0 while the receiver sleeps until there is a message, with a different
   * value for each sleep; 4 bytes.
   */
  static final long RECEIVER_ASLEEP = 768;

  /**
   * Offset in the ring: not 0 if a sleeping receiver relies on a full fence of the sender between
   * its store of a record and its load of {@link #RECEIVER_ASLEEP}; 4 bytes, which the sender loads
   * together with that word.
   */
  static final long SENDER_FENCES = RECEIVER_ASLEEP + 4;

  /** Offset in the ring: the release ring. */
  static final long RELEASES = 4096;

  private static final int MIN_RING_SHIFT = 5;

  /** Maximum binary logarithm of the bytes of records. */
  public static final int MAX_RING_SHIFT = 24;

  /** Maximum number of lanes. */
  public static final int MAX_LANES = 63;

  /** Maximum number of payload lines: as many as a release entry can name, which is 1 GiB. */
  public static final int MAX_LINES = 1 << 24;

  static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private static final int PAGE = 4096;
  private static final int RECORDS_FOR_RELEASE = 128; // bytes
  private static final int MIN_RELEASES = 8;

  /**
   * Creates a layout.
   *
   * @throws IllegalArgumentException if the sizes are out of range, or the longest message does not
   *     fit the buffer
   */
  public RingLayout {
    if (ringShift < MIN_RING_SHIFT || ringShift > MAX_RING_SHIFT) {
      throw new IllegalArgumentException("2^" + ringShift + " bytes of records");
    }
    if (lines < 0 || lines > MAX_LINES) {
      throw new IllegalArgumentException(lines + " lines");
    }
    if (maxMessage < 0 || maxMessage > Math.max(inlineMax(ringShift), (long) lines * LINE)) {
      throw new IllegalArgumentException(
          "messages of " + maxMessage + " bytes in " + lines + " lines");
    }
  }

  /** {@return the number of bytes of records in the ring, a power of two} */
  public int capacity() {
    return 1 << ringShift;
  }

  /** Returns the maximum inline message: {@link #INLINE_MAX}, or less in a small ring. */
  int inlineMax() {
    return inlineMax(ringShift);
  }

  /**
   * {@return the maximum inline message of a ring, in bytes} A record takes at most an eighth of
   * the ring, so that there is room for one between the end of the ring and two held records.
   *
   * @param ringShift the binary logarithm of the bytes of records
   */
  public static int inlineMax(int ringShift) {
    return Math.clamp((1 << ringShift) / 8 - HEADER, 0, INLINE_MAX);
  }

  /** Returns the size of an inline message's record, a multiple of {@link #HEADER}. */
  static int recordSize(int length) {
    return length + 2 * HEADER - 1 & -HEADER;
  }

  /**
   * Returns the number of entries of the release ring, a power of two: the maximum number of
   * messages in payload lines that the receiver has not released.
   */
  int releases() {
    return Math.max(MIN_RELEASES, capacity() / RECORDS_FOR_RELEASE);
  }

  /**
   * {@return the maximum number of regions that each side's program holds at a time, a power of
   * two}
   */
  public int regions() {
    return releases() / 2;
  }

  /** {@return the offset in the ring of the records, on a page of its own} */
  public long recordsOffset() {
    return RELEASES + roundUp((long) releases() * Integer.BYTES);
  }

  /** {@return the size of the ring, in bytes} */
  public long ringSize() {
    return recordsOffset() + capacity();
  }

  /** {@return the size of the payload lines, in bytes} */
  public long bufferSize() {
    return Math.max(PAGE, roundUp((long) lines * LINE));
  }

  /** {@return the size of a lane, in bytes: a ring of this layout, and its payload lines} */
  public long laneSize() {
    return roundUp(ringSize()) + bufferSize();
  }

  /** {@return the offset of the payload lines in a lane, in bytes} */
  public long laneBufferOffset() {
    return roundUp(ringSize());
  }

  /** Returns the number of lines of a message. */
  static int linesFor(int length) {
    return (int) ((length + (long) LINE - 1) / LINE);
  }

  /**
   * Writes the descriptor. The magic number is stored last, so that a half-written descriptor is
   * never valid.
   *
   * @param ring the new ring, zeroed
   * @param flags the flags
   * @param generation the ring's generation, not 0
   * @param peerGeneration the generation of the opposite ring, or 0
   * @param lanes the number of lanes, 0 to {@link #MAX_LANES}
   */
  public void writeDescriptor(
      MemorySegment ring, int flags, long generation, long peerGeneration, int lanes) {
    INT.set(ring, DESCRIPTOR_VERSION, VERSION);
    INT.set(ring, DESCRIPTOR_FLAGS, flags);
    LONG.set(ring, DESCRIPTOR_GENERATION, generation);
    LONG.set(ring, DESCRIPTOR_PEER_GENERATION, peerGeneration);
    INT.set(ring, DESCRIPTOR_RING_SHIFT, ringShift);
    INT.set(ring, DESCRIPTOR_LINES, lines);
    INT.set(ring, DESCRIPTOR_MAX_MESSAGE, maxMessage);
    INT.set(ring, DESCRIPTOR_LANES, lanes);
    LONG.setRelease(ring, DESCRIPTOR_MAGIC, MAGIC);
  }

  /**
   * A ring's description of itself.
   *
   * @param layout its layout, internally consistent
   * @param flags its flags
   * @param generation its generation
   * @param peerGeneration the generation of the opposite ring, or 0
   * @param lanes the number of lanes
   */
  public record Descriptor(
      RingLayout layout, int flags, long generation, long peerGeneration, int lanes) {}

  /**
   * Reads and validates a descriptor written by an untrusted process; reads each field once.
   *
   * @param ring at least {@link #DESCRIPTOR_SIZE} bytes
   * @return the descriptor; empty if it is not a valid one of this version
   */
  public static Optional<Descriptor> readDescriptor(MemorySegment ring) {
    if ((long) LONG.getAcquire(ring, DESCRIPTOR_MAGIC) != MAGIC
        || (int) INT.get(ring, DESCRIPTOR_VERSION) != VERSION) {
      return Optional.empty();
    }
    int flags = (int) INT.get(ring, DESCRIPTOR_FLAGS);
    long generation = (long) LONG.get(ring, DESCRIPTOR_GENERATION);
    long peerGeneration = (long) LONG.get(ring, DESCRIPTOR_PEER_GENERATION);
    try {
      return Optional.of(
          new Descriptor(layoutOf(ring), flags, generation, peerGeneration, lanesOf(ring)));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /**
   * Describes what is wrong with a descriptor.
   *
   * @param ring as for {@link #readDescriptor}, which has returned nothing
   * @return the flaw, a predicate for the subject "its memory"
   */
  public static String flaw(MemorySegment ring) {
    if ((long) LONG.getAcquire(ring, DESCRIPTOR_MAGIC) == MAGIC
        && (int) INT.get(ring, DESCRIPTOR_VERSION) == VERSION) {
      try {
        layoutOf(ring);
        lanesOf(ring);
      } catch (IllegalArgumentException e) {
        return "starts with a ring of invalid sizes: " + e.getMessage();
      }
    }
    return "does not start with a ring of version " + VERSION;
  }

  private static RingLayout layoutOf(MemorySegment ring) {
    return new RingLayout(
        (int) INT.get(ring, DESCRIPTOR_RING_SHIFT),
        (int) INT.get(ring, DESCRIPTOR_LINES),
        (int) INT.get(ring, DESCRIPTOR_MAX_MESSAGE));
  }

  private static int lanesOf(MemorySegment ring) {
    int lanes = (int) INT.get(ring, DESCRIPTOR_LANES);
    if (lanes < 0 || lanes > MAX_LANES) {
      throw new IllegalArgumentException(lanes + " lanes");
    }
    return lanes;
  }

  private static long roundUp(long size) {
    return (size + PAGE - 1) & -PAGE;
  }
}
