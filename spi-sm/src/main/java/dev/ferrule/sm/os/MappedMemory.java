// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import java.lang.foreign.MemorySegment;

/**
 * Finds out whose memory it was when a copy has failed by an {@link InternalError}, which is what
 * the JVM makes of a SIGBUS and which does not say where: a file that is mapped was truncated, or
 * has a hole and its file system no room.
 */
public final class MappedMemory {

  private static final int PIECE = 4096;

  private MappedMemory() {}

  /**
   * Tells whether memory can be read. For when something has gone wrong: it reads all of it.
   *
   * @param memory the memory
   * @param offset where in it to begin
   * @param length how many bytes
   * @return false if a part of it is not there
   */
  public static boolean isThere(MemorySegment memory, long offset, long length) {
    MemorySegment into = MemorySegment.ofArray(new byte[PIECE]);
    try {
      for (long done = 0; done < length; done += PIECE) {
        MemorySegment.copy(memory, offset + done, into, 0, Math.min(PIECE, length - done));
      }
      Thread.yield(); // compiled code learns of it late, but no later than when it comes back here
      return true;
    } catch (InternalError e) {
      return false;
    }
  }
}
