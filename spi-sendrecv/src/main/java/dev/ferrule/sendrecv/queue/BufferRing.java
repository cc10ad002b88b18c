// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A single-producer single-consumer ring of buffer numbers, with capacity for all buffers. A
 * producer that checks after an addition whether the consumer sleeps needs a full fence between the
 * two.
 */
final class BufferRing {

  private final int[] buffers;
  private final int mask;
  private final AtomicLong tail = new AtomicLong(); // written by the producer, by release stores
  private final AtomicLong head = new AtomicLong(); // written by the consumer, by release stores

  BufferRing(int capacity) {
    int slots = Integer.highestOneBit(2 * Math.max(1, capacity) - 1);
    this.buffers = new int[slots];
    this.mask = slots - 1;
  }

  void add(int buffer) {
    long now = tail.getPlain();
    if (now - head.getAcquire() > mask) {
      throw new IllegalStateException("more buffers returned than exist");
    }
    buffers[(int) now & mask] = buffer;
    tail.setRelease(now + 1);
  }

  boolean isEmpty() {
    return head.getAcquire() == tail.getAcquire();
  }

  /** Takes the next buffer; returns -1 if the ring is empty. */
  int poll() {
    long now = head.getPlain();
    if (now == tail.getAcquire()) {
      return -1;
    }
    int buffer = buffers[(int) now & mask];
    head.setRelease(now + 1);
    return buffer;
  }
}
