// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static dev.ferrule.sm.rma.RmaLayout.LONG;

import java.lang.foreign.MemorySegment;

/** Atomic operations by the processor on a word of 8 bytes. */
final class AtomicWord {

  private AtomicWord() {}

  /**
   * Performs an operation; returns the previous value.
   *
   * @param operation that of a fragment
   * @param offset the offset of the word, which is within the memory and aligned
   * @param operand the number to add, or the expected value
   * @param desired the value to set
   * @throws IllegalStateException if the memory has been freed
   * @throws InternalError if its file was truncated
   */
  static long change(int operation, MemorySegment memory, long offset, long operand, long desired) {
    // Where no page is mapped, this read throws an InternalError, but the atomic instruction would
    // crash the process if the interpreter calls it in the JVM's own code. It still does if the
    // program truncates its file between the two accesses, or if the page can be read but not
    // written: a hole in a file on a full disk. Sealed memory, which Rma.allocate returns, is never
    // in either state.
    long ignored = (long) LONG.getVolatile(memory, offset);
    return operation == RmaLayout.FETCH_AND_ADD
        ? (long) LONG.getAndAdd(memory, offset, operand)
        : (long) LONG.compareAndExchange(memory, offset, operand, desired);
  }
}
