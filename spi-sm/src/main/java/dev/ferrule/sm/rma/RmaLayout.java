// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Where everything lies in the two files for remote memory access that each side of a connection
 * makes. Whoever starts an operation is its initiator, and the other side the target.
 *
 * <pre>
 * rma         0     descriptor: magic, version, generation, probe         written once, before the ring's name is told
 *             256   the initiator's line: in use, submitted, asleep       written by the maker as initiator
 *             512   the target's line: handled, awake                     written by the maker as target
 *             1024  submissions: the line of each fragment, a ring        written by the maker as initiator
 *             4096  regions: what is exposed                              written by the maker as target
 * rma-buffer  lines of 64 bytes: fragments, each a header and, from the next line on, the payload;
 *             made by the initiator when it first needs it; a target writes to it what was read, and how it went
 * allocatable memory that this side's program allocates to expose it; allocated page by page
 * </pre>
 *
 * <p>What different sides write is at least two cache lines apart. Integers are in the machine's
 * byte order: both sides are on one machine.
 */
public final class RmaLayout {

  /** Says that a file is one for remote memory access: "FerruRMA" in ASCII, little-endian. */
  public static final long MAGIC = 0x414d527572726546L;

  /** The version of everything described here. */
  public static final int VERSION = 2;

  /** Offset of {@link #MAGIC}, 8 bytes. */
  public static final long DESCRIPTOR_MAGIC = 0;

  /** Offset of {@link #VERSION}, 4 bytes. */
  public static final long DESCRIPTOR_VERSION = 8;

  /** Offset of the generation of the ring of the same directory, 8 bytes. */
  public static final long DESCRIPTOR_GENERATION = 16;

  /** Offset of the process's number as it knows it itself, 8 bytes. */
  public static final long DESCRIPTOR_PID = 24;

  /** Offset of the address of a word in that process's memory, 8 bytes. */
  public static final long DESCRIPTOR_PROBE = 32;

  /** Offset of what that word is, 8 bytes: a random number. */
  public static final long DESCRIPTOR_PROBE_VALUE = 40;

  /** Offset of KNEM's cookie of that word, 8 bytes; 0 if there is none. */
  public static final long DESCRIPTOR_PROBE_COOKIE = 48;

  /**
   * Offset of the size of the memory for {@link dev.ferrule.Rma#allocate}, 8 bytes: the end of the
   * file, behind rma-buffer. A multiple of the size of a page.
   */
  public static final long DESCRIPTOR_ALLOCATABLE = 56;

  /**
   * Offset of the region that the initiator is copying from or to, plus 1, 8 bytes; 0 if none is.
   * The target does not take a region back as long as it is here.
   */
  public static final long IN_USE = 256;

  /** Offset of how many fragments were submitted, ever, 8 bytes. */
  public static final long SUBMITTED = 256 + 8;

  /**
   * Offset of 1 while the initiator sleeps and wants to be woken up by a fragment's end, 4 bytes.
   */
  public static final long INITIATOR_ASLEEP = 256 + 16;

  /** Offset of how many lines the file rma-buffer has, 4 bytes; 0 as long as there is none. */
  public static final long BUFFER_LINES = 256 + 20;

  /** Offset of how many fragments the target has handled, ever, 8 bytes. */
  public static final long HANDLED = 512;

  /**
   * Offset of 1 while the target looks for fragments by itself, so that it need not be told of any,
   * 4 bytes.
   */
  public static final long TARGET_AWAKE = 512 + 8;

  /** Offset of the submissions: the first line of each fragment, 4 bytes each. */
  public static final long SUBMISSIONS = 1024;

  /** How many fragments can be under way; a power of two. */
  public static final int FRAGMENTS = 256;

  /** Offset of the regions. */
  public static final long REGIONS = 4096;

  /** How much memory can be exposed at a time, in pieces. */
  public static final int MAX_REGIONS = 256;

  /** Bytes of a region's entry. */
  public static final int REGION_SIZE = 64;

  /** Offset in a region's entry: the generation, 8 bytes; 0 if it is none. */
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
   * Offset in a region's entry: where in the allocatable memory the region begins, plus 1, 8 bytes;
   * 0 if it is other memory.
   */
  public static final int REGION_PLACE = 40;

  /** How long the file rma is, in bytes. */
  public static final long SIZE = REGIONS + (long) MAX_REGIONS * REGION_SIZE;

  /** Bytes of a line of the file rma-buffer. */
  public static final int LINE = 64;

  /** Offset in a fragment's header: {@link #WRITE} or {@link #READ}, 4 bytes. */
  public static final int FRAGMENT_OPERATION = 0;

  /** Offset in a fragment's header: how it went, 4 bytes; written by the target. */
  public static final int FRAGMENT_STATUS = 4;

  /** Offset in a fragment's header: the number of the region, 4 bytes. */
  public static final int FRAGMENT_REGION = 8;

  /** Offset in a fragment's header: the length of the payload in bytes, 4 bytes. */
  public static final int FRAGMENT_LENGTH = 12;

  /** Offset in a fragment's header: the generation of the region, 8 bytes. */
  public static final int FRAGMENT_GENERATION = 16;

  /** Offset in a fragment's header: where in the region, 8 bytes. */
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

  /** Status: the region is not for that, or not so long. */
  public static final int DENIED = 3;

  /** Status: the target's memory cannot be accessed: it was freed, or its file truncated. */
  public static final int FAULT = 4;

  /** Allocatable memory begins and is allocated at a multiple of this. */
  public static final long PAGE = 4096;

  static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private RmaLayout() {}

  /** Where a region's entry is. */
  static long region(int id) {
    return REGIONS + (long) id * REGION_SIZE;
  }

  /** Where the line of a submission is noted. */
  static long submission(long number) {
    return SUBMISSIONS + (number & (FRAGMENTS - 1)) * Integer.BYTES;
  }

  /** How many lines a fragment takes, its header included. */
  static int linesFor(int length) {
    return 1 + (length + LINE - 1) / LINE;
  }
}
