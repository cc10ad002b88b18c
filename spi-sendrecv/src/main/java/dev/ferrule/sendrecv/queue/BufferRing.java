// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

/** Buffers on their way from one thread to another: a ring that is large enough for all of them. */
final class BufferRing {

  private final int[] buffers;
  private final int mask;
  private volatile long tail; // written by the one who gives
  private volatile long head; // written by the one who takes

  BufferRing(int capacity) {
    int slots = Integer.highestOneBit(2 * Math.max(1, capacity) - 1);
    this.buffers = new int[slots];
    this.mask = slots - 1;
  }

  void add(int buffer) {
    long now = tail;
    if (now - head > mask) {
      throw new IllegalStateException("more buffers came back than there are");
    }
    buffers[(int) now & mask] = buffer;
    tail = now + 1;
  }

  boolean isEmpty() {
    return head == tail;
  }

  /** Takes a buffer; -1 if there is none. */
  int poll() {
    long now = head;
    if (now == tail) {
      return -1;
    }
    int buffer = buffers[(int) now & mask];
    head = now + 1;
    return buffer;
  }
}
