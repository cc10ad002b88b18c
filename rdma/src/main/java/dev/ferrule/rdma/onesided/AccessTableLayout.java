// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.onesided;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The layout of the table that each side of a connection has for remote memory access. The peer's
 * device may read and write it.
 *
 * <pre>
 *     0  exposures: an entry for each memory that the peer exposes     written by the peer
 *  8192  in use: for each, this side's number of outstanding requests  written by this side, read by the peer
 *  9216  scratch: operands of WRITEs and READs of the peer's table     used by this side only
 * </pre>
 *
 * <p>Work requests address bytes by their offset in the table. Integers are little-endian, as in
 * the hello.
 */
final class AccessTableLayout {

  /** The maximum number of exposures at a time. */
  static final int MAX_EXPOSURES = 256;

  /** Bytes of an entry. */
  static final int ENTRY_SIZE = 32;

  /** Offset in an entry: the generation, 8 bytes; 0 if nothing is exposed. */
  static final int ENTRY_GENERATION = 0;

  /** Offset in an entry: the length in bytes, 8 bytes. */
  static final int ENTRY_LENGTH = 8;

  /** Offset in an entry: the remote key, 4 bytes. */
  static final int ENTRY_KEY = 16;

  /** Offset in an entry: the rights as in a handle, 4 bytes. */
  static final int ENTRY_RIGHTS = 20;

  /** Offset in an entry: the address of the first byte in work requests, 4 bytes. */
  static final int ENTRY_FIRST = 24;

  /** Offset of the numbers of outstanding requests, 4 bytes per entry. */
  static final long IN_USE = (long) MAX_EXPOSURES * ENTRY_SIZE;

  /** Offset of the scratch area: an entry to write, and the target of READs. */
  static final long SCRATCH = IN_USE + (long) MAX_EXPOSURES * Integer.BYTES;

  /** Offset of the target of READs, 8 bytes. */
  static final long SCRATCH_READ = SCRATCH + ENTRY_SIZE;

  /** Bytes of the table. */
  static final long SIZE = 12_288;

  /** Alignment of the table in bytes: the largest base page size of Linux. */
  static final long ALIGNMENT = 1 << 16;

  static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private AccessTableLayout() {}

  /** Returns the offset of an entry. */
  static long entry(int id) {
    return (long) id * ENTRY_SIZE;
  }

  /** Returns the offset of an entry's number of outstanding requests. */
  static long inUse(int id) {
    return IN_USE + (long) id * Integer.BYTES;
  }
}
