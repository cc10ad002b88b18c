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
 * <p>Fields written by different sides are at least two cache lines apart. Integers are in the
 * machine's byte order: both sides are on one machine.
 */
public final class RmaLayout {

  /** Identifies an area for remote memory access: "FerruRMA" in ASCII, little-endian. */
  public static final long MAGIC = 0x414d527572726546L;

  /** The version of everything described here. */
  public static final int VERSION = 2;

  /** Offset of {@link #MAGIC}, 8 bytes. */
  public static final long DESCRIPTOR_MAGIC = 0;

  /** Offset of {@link #VERSION}, 4 bytes. */
  public static final long DESCRIPTOR_VERSION = 8;

  /** Offset of the generation of the ring in the same file, 8 bytes. */
  public static final long DESCRIPTOR_GENERATION = 16;

  /** Offset of the process id in the process's own PID namespace, 8 bytes. */
  public static final long DESCRIPTOR_PID = 24;

  /** Offset of the address of a word in that process's memory, 8 bytes. */
  public static final long DESCRIPTOR_PROBE = 32;

  /** Offset of that word's value, 8 bytes: a random number. */
  public static final long DESCRIPTOR_PROBE_VALUE = 40;

  /** Offset of KNEM's cookie of that word, 8 bytes; 0 if there is none. */
  public static final long DESCRIPTOR_PROBE_COOKIE = 48;

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

  /** Offset of the total number of submitted fragments, 8 bytes. */
  public static final long SUBMITTED = 256 + 8;

  /**
   * Offset of 1 while the initiator sleeps and requests a wake-up at a fragment's completion, 4
   * bytes.
   */
  public static final long INITIATOR_ASLEEP = 256 + 16;

  /** Offset of the number of lines of rma-buffer, 4 bytes; 0 as long as there is none. */
  public static final long BUFFER_LINES = 256 + 20;

  /** Offset of the total number of handled fragments, 8 bytes. */
  public static final long HANDLED = 512;

  /**
   * Offset of 1 while the target polls for fragments, so that it needs no notification, 4 bytes.
   */
  public static final long TARGET_AWAKE = 512 + 8;

  /** Offset of the submissions: the first line of each fragment, 4 bytes each. */
  public static final long SUBMISSIONS = 1024;

  /** Maximum number of fragments in flight; a power of two. */
  public static final int FRAGMENTS = 256;

  /** Offset of the regions. */
  public static final long REGIONS = 4096;

  /** Maximum number of exposed regions. */
  public static final int MAX_REGIONS = 256;

  /** Size of a region's entry in bytes. */
  public static final int REGION_SIZE = 64;

  /** Offset in a region's entry: the generation, 8 bytes; 0 if there is no region. */
  public static final int REGION_GENERATION = 0;

  /** Offset in a region's entry: the address in the process that exposes it, 8 bytes. */
  public static final int REGION_ADDRESS = 8;

  /** Offset in a region's entry: the length in bytes, 8 bytes. */
  public static final int REGION_LENGTH = 16;

  /** Offset in a region's entry: the rights as in a handle, 4 bytes. */
  public static final int REGION_RIGHTS = 24;

  /** Offset in a region's entry: KNEM's cookie, 8 bytes; 0 if there is none. */
  public static final int REGION_COOKIE = 32;

  /**
   * Offset in a region's entry: its offset in the allocatable memory, plus 1, 8 bytes; 0 if it is
   * other memory.
   */
  public static final int REGION_PLACE = 40;

  /** Size of the area rma, in bytes. */
  public static final long SIZE = REGIONS + (long) MAX_REGIONS * REGION_SIZE;

  /** Size of a line of rma-buffer, in bytes. */
  public static final int LINE = 64;

  /** Offset in a fragment's header: {@link #WRITE} or {@link #READ}, 4 bytes. */
  public static final int FRAGMENT_OPERATION = 0;

  /** Offset in a fragment's header: the status, 4 bytes; written by the target. */
  public static final int FRAGMENT_STATUS = 4;

  /** Offset in a fragment's header: the number of the region, 4 bytes. */
  public static final int FRAGMENT_REGION = 8;

  /** Offset in a fragment's header: the length of the payload in bytes, 4 bytes. */
  public static final int FRAGMENT_LENGTH = 12;

  /** Offset in a fragment's header: the generation of the region, 8 bytes. */
  public static final int FRAGMENT_GENERATION = 16;

  /** Offset in a fragment's header: the offset in the region, 8 bytes. */
  public static final int FRAGMENT_OFFSET = 24;

  /** Operation: from the initiator to the target. */
  public static final int WRITE = 1;

  /** Operation: from the target to the initiator. */
  public static final int READ = 2;

  /** Status: not handled yet. */
  public static final int PENDING = 0;

  /** Status: done. */
  public static final int DONE = 1;

  /** Status: there is no such region, or no longer. */
  public static final int NO_REGION = 2;

  /** Status: the region does not grant the right, or is shorter. */
  public static final int DENIED = 3;

  /** Status: the target's memory cannot be accessed: it was freed, or its file truncated. */
  public static final int FAULT = 4;

  /** Allocatable memory is aligned to, and allocated in multiples of, this size. */
  public static final long PAGE = 4096;

  static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private RmaLayout() {}

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
