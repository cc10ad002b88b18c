// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

/** A single-producer single-consumer ring of buffer numbers, with capacity for all buffers. */
final class BufferRing {

  private final int[] buffers;
  private final int mask;
  private volatile long tail; // written by the producer
  private volatile long head; // written by the consumer

  BufferRing(int capacity) {
    int slots = Integer.highestOneBit(2 * Math.max(1, capacity) - 1);
    this.buffers = new int[slots];
    this.mask = slots - 1;
  }

  void add(int buffer) {
    long now = tail;
    if (now - head > mask) {
      throw new IllegalStateException("more buffers returned than exist");
    }
    buffers[(int) now & mask] = buffer;
    tail = now + 1;
  }

  boolean isEmpty() {
    return head == tail;
  }

  /** Takes the next buffer; returns -1 if the ring is empty. */
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
