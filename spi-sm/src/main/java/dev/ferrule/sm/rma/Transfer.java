// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The rest of an operation of remote memory access, to be copied one-sidedly or by fragments; or an
 * atomic operation, which is one fragment. Reused, so that an operation allocates nothing.
 *
 * <p>Used by one thread at a time.
 */
public final class Transfer {

  private int operation; // as in a fragment's header
  private MemorySegment local = MemorySegment.NULL;
  private long localOffset;
  private @Nullable RemoteRegion region;
  private long remoteOffset;
  private long length;
  private long operand;
  private long desired;

  /** Creates a transfer with nothing to copy. */
  public Transfer() {}

  /**
   * Begins an operation, whose ranges are within both pieces of memory.
   *
   * @param isWrite whether to copy to the region instead of from it
   * @param memory the memory of this side
   * @param offset the offset in it
   * @param remote the peer's region
   * @param offsetThere the offset in the region
   * @param bytes the number of bytes
   */
  public void begin(
      boolean isWrite,
      MemorySegment memory,
      long offset,
      RemoteRegion remote,
      long offsetThere,
      long bytes) {
    operation = isWrite ? RmaLayout.WRITE : RmaLayout.READ;
    local = memory;
    localOffset = offset;
    region = remote;
    remoteOffset = offsetThere;
    length = bytes;
  }

  /**
   * Turns the operation, a read of a word, into an atomic one, which also changes the word.
   *
   * @param swap whether to compare and swap instead of adding
   * @param first the number to add, or the expected value
   * @param second the value to set
   */
  public void makeAtomic(boolean swap, long first, long second) {
    operation = swap ? RmaLayout.COMPARE_AND_SWAP : RmaLayout.FETCH_AND_ADD;
    operand = first;
    desired = second;
  }

  /** Ends the operation, completed or not, and drops the reference to the memory. */
  public void end() {
    local = MemorySegment.NULL;
    region = null;
  }

  /** {@return the number of bytes still to be copied} */
  public long length() {
    return length;
  }

  /**
   * Records that the next bytes were copied.
   *
   * @param bytes their number, at most {@link #length}
   */
  public void advance(long bytes) {
    localOffset += bytes;
    remoteOffset += bytes;
    length -= bytes;
  }

  /** {@return whether it copies to the region} */
  public boolean isWrite() {
    return operation == RmaLayout.WRITE;
  }

  boolean isAtomic() {
    return operation == RmaLayout.FETCH_AND_ADD || operation == RmaLayout.COMPARE_AND_SWAP;
  }

  /** Returns the operation's number in a fragment's header. */
  int operation() {
    return operation;
  }

  long operand() {
    return operand;
  }

  long desired() {
    return desired;
  }

  MemorySegment local() {
    return local;
  }

  long localOffset() {
    return localOffset;
  }

  RemoteRegion region() {
    if (region == null) {
      throw new IllegalStateException("no operation has begun");
    }
    return region;
  }

  long remoteOffset() {
    return remoteOffset;
  }
}
