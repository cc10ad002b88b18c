// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The layout of the areas for remote memory access in the memory of each side of a connection. The
 * side that starts an operation is its initiator, and the other side the target.
 *
 * <pre>
 * rma         0     descriptor: magic, version, generation, probe  written once, before sharing
 *             256   initiator's line: in use, submitted, asleep    written by the owner as initiator
 *             512   target's line: handled, awake                  written by the owner as target
 *             1024  submissions: the line of each fragment, a ring written by the owner as initiator
 *             4096  regions: the exposed memory                    written by the owner as target
 * rma-buffer  lines of 64 bytes: fragments, each a header and, from the next line on, the payload;
 *             created by the initiator on first use; a target writes the bytes read, and the status
 * allocatable memory that this side's program allocates to expose; allocated page by page
 * </pre>
 *
 * <p>The constants are offsets, unless they say otherwise. Fields written by different sides are at
 * least two cache lines apart. Integers are in the machine's byte order: both sides are on one
 * machine.
 */
public final class RmaLayout {

  /** "FerruRMA" in ASCII, little-endian. */
  static final long MAGIC = 0x414d527572726546L;

  /** The version of everything described here. */
  static final int VERSION = 2;

  // The descriptor.
  static final long DESCRIPTOR_MAGIC = 0; // 8 bytes
  static final long DESCRIPTOR_VERSION = 8; // 4 bytes

  /** Offset of the generation of the ring in the same file, 8 bytes. */
  public static final long DESCRIPTOR_GENERATION = 16;

  static final long DESCRIPTOR_PID = 24; // in the process's own PID namespace; 8 bytes
  static final long DESCRIPTOR_PROBE = 32; // the address of a word in its memory; 8 bytes
  static final long DESCRIPTOR_PROBE_VALUE = 40; // that word's value, a random number; 8 bytes
  static final long DESCRIPTOR_PROBE_COOKIE = 48; // KNEM's cookie of it, 0 if none; 8 bytes

  /**
   * Offset of the size of the memory for {@link dev.ferrule.Rma#allocate}, 8 bytes: the end of the
   * file, behind rma-buffer. A multiple of the page size.
   */
  public static final long DESCRIPTOR_ALLOCATABLE = 56;

  /**
   * Offset of the region that the initiator is copying from or to, plus 1, 8 bytes; 0 if there is
   * none. The target does not take a region back while it is stored here.
   */
  public static final long IN_USE = 256;

  // The rest of the initiator's line.
  static final long SUBMITTED = 256 + 8; // total number of submitted fragments; 8 bytes
  static final long INITIATOR_ASLEEP = 256 + 16; // 1: wake it when a fragment completes; 4 bytes
  static final long BUFFER_LINES = 256 + 20; // of rma-buffer, 0 until there is one; 4 bytes

  // The target's line.
  static final long HANDLED = 512; // total number of handled fragments; 8 bytes
  static final long TARGET_AWAKE = 512 + 8; // 1: it polls, and needs no notification; 4 bytes

  private static final long SUBMISSIONS = 1024; // first line of each fragment; 4 bytes each

  /** Maximum number of fragments in flight; a power of two. */
  static final int FRAGMENTS = 256;

  /** Offset of the regions. */
  public static final long REGIONS = 4096;

  /** Maximum number of exposed regions. */
  public static final int MAX_REGIONS = 256;

  /** Size of a region's entry in bytes. */
  public static final int REGION_SIZE = 64;

  // A region's entry.
  static final int REGION_GENERATION = 0; // 0 if there is no region; 8 bytes
  static final int REGION_ADDRESS = 8; // in the process that exposes it; 8 bytes
  static final int REGION_LENGTH = 16; // in bytes; 8 bytes
  static final int REGION_RIGHTS = 24; // as in a handle; 4 bytes
  static final int REGION_COOKIE = 32; // KNEM's cookie, 0 if there is none; 8 bytes
  static final int REGION_PLACE = 40; // in allocatable memory, plus 1; 0 if elsewhere; 8 bytes

  /** Size of the area rma, in bytes. */
  public static final long SIZE = REGIONS + (long) MAX_REGIONS * REGION_SIZE;

  /** Size of a line of rma-buffer, in bytes. */
  static final int LINE = 64;

  // A fragment's header.
  static final int FRAGMENT_OPERATION = 0; // see below; 4 bytes
  static final int FRAGMENT_STATUS = 4; // written by the target; 4 bytes
  static final int FRAGMENT_REGION = 8; // the region's number; 4 bytes
  static final int FRAGMENT_LENGTH = 12; // of the payload in bytes; 4 bytes
  static final int FRAGMENT_GENERATION = 16; // the region's; 8 bytes
  static final int FRAGMENT_OFFSET = 24; // in the region; 8 bytes

  // A fragment's operation.
  static final int WRITE = 1; // from the initiator to the target
  static final int READ = 2; // from the target to the initiator
  static final int FETCH_AND_ADD = 3; // requires the right ATOMIC, as does the next
  static final int COMPARE_AND_SWAP = 4;

  // The payload of the last two: operands, of which the target replaces the first by the result.
  static final int ATOMIC_OPERAND = 0; // the addend, or the expected value; 8 bytes
  static final int ATOMIC_DESIRED = 8; // the value to set; not read for an addition; 8 bytes
  static final int ATOMIC_RESULT = 0; // the previous value of the word; 8 bytes
  static final int ATOMIC_PAYLOAD = 16; // the length

  /** Status: not handled yet. */
  static final int PENDING = 0;

  /** Status: done. */
  public static final int DONE = 1;

  /** Status: there is no such region, or no longer. */
  public static final int NO_REGION = 2;

  /** Status: the region does not grant the right or is shorter, or a word is not aligned. */
  public static final int DENIED = 3;

  /** Status: the target's memory cannot be accessed: it was freed, or its file truncated. */
  public static final int FAULT = 4;

  /** Allocatable memory is aligned to, and allocated in multiples of, this size. */
  static final long PAGE = 4096;

  static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private RmaLayout() {}

  /**
   * {@return a size of allocatable memory, or of rma-buffer, in whole pages}
   *
   * @param size the size in bytes
   */
  public static long roundedUp(long size) {
    return size + PAGE - 1 & -PAGE;
  }

  /** Returns the offset of a region's entry. */
  static long region(int id) {
    return REGIONS + (long) id * REGION_SIZE;
  }

  /** Returns the offset of a submission's entry. */
  static long submission(long number) {
    return SUBMISSIONS + (number & (FRAGMENTS - 1)) * Integer.BYTES;
  }

  /** Returns the number of lines of a fragment, including its header. */
  static int linesFor(int length) {
    return 1 + (length + LINE - 1) / LINE;
  }
}
