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
    // Where no page is, this read throws an InternalError. An atomic instruction of the JVM's own
    // code, which the interpreter calls, would end the process. It still does if the program
    // truncates its file between the two, or if a page can be read but not written: a hole in a
    // file on a full disk. Sealed memory, which Rma.allocate returns, has neither.
    long ignored = (long) LONG.getVolatile(memory, offset);
    return operation == RmaLayout.FETCH_AND_ADD
        ? (long) LONG.getAndAdd(memory, offset, operand)
        : (long) LONG.compareAndExchange(memory, offset, operand, desired);
  }
}
