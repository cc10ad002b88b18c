// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.access;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Where everything lies in the table that each side of a connection has for remote memory access,
 * and that the peer's device may write to and read.
 *
 * <pre>
 *     0  exposures: what the peer exposes, an entry for each number       written by the peer
 *  8192  in use: how many requests of this side are under way for each    written by this side, read by the peer
 *  9216  scratch: what this side writes to the peer's table, or has read  only for this side
 * </pre>
 *
 * <p>Both devices name the bytes by their offset in the table. Integers are little-endian, as they
 * are in the hello.
 */
final class AccessTableLayout {

  /** How much memory can be exposed at a time, in pieces. */
  static final int MAX_EXPOSURES = 256;

  /** Bytes of an entry. */
  static final int ENTRY_SIZE = 32;

  /** Offset in an entry: the generation, 8 bytes; 0 if nothing is exposed. */
  static final int ENTRY_GENERATION = 0;

  /** Offset in an entry: the length in bytes, 8 bytes. */
  static final int ENTRY_LENGTH = 8;

  /** Offset in an entry: the key of the device, 4 bytes. */
  static final int ENTRY_KEY = 16;

  /** Offset in an entry: the rights as in a handle, 4 bytes. */
  static final int ENTRY_RIGHTS = 20;

  /** Offset in an entry: the number of the first byte, 4 bytes. */
  static final int ENTRY_FIRST = 24;

  /** Offset of how many requests are under way for each number, 4 bytes each. */
  static final long IN_USE = (long) MAX_EXPOSURES * ENTRY_SIZE;

  /** Offset of the scratch memory: an entry, and what was read. */
  static final long SCRATCH = IN_USE + (long) MAX_EXPOSURES * Integer.BYTES;

  /** Offset of what was read, 8 bytes. */
  static final long SCRATCH_READ = SCRATCH + ENTRY_SIZE;

  /** Bytes of the table. */
  static final long SIZE = 12_288;

  /** Alignment of the table, in bytes: that of the largest ordinary page. */
  static final long ALIGNMENT = 1 << 16;

  static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private AccessTableLayout() {}

  /** Where the entry of a number is. */
  static long entry(int id) {
    return (long) id * ENTRY_SIZE;
  }

  /** Where it says whether requests are under way for a number. */
  static long inUse(int id) {
    return IN_USE + (long) id * Integer.BYTES;
  }
}
