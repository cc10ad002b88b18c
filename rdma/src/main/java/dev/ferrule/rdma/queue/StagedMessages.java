// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

/**
 * The messages that are staged but not posted, up to the number posted with one doorbell.
 *
 * <p><b>Threads:</b> used by the sender's thread.
 */
final class StagedMessages {

  private final long[] addresses = new long[SendQueue.MAX_CHAIN];
  private final int[] reservedLengths = new int[SendQueue.MAX_CHAIN];
  private final int[] lengths = new int[SendQueue.MAX_CHAIN];
  private final int[] keys = new int[SendQueue.MAX_CHAIN];
  private final int[] lines = new int[SendQueue.MAX_CHAIN];
  private int count;

  /** Adds a message; returns whether another one fits. */
  boolean add(int line, long address, int reservedLength, int length, int key) {
    addresses[count] = address;
    reservedLengths[count] = reservedLength;
    lengths[count] = length;
    keys[count] = key;
    lines[count] = line;
    count++;
    return count < SendQueue.MAX_CHAIN;
  }

  int count() {
    return count;
  }

  long address(int index) {
    return addresses[index];
  }

  int reservedLength(int index) {
    return reservedLengths[index];
  }

  int length(int index) {
    return lengths[index];
  }

  int key(int index) {
    return keys[index];
  }

  /** Returns the first line; below 0 if there is none. */
  int line(int index) {
    return lines[index];
  }

  void clear() {
    count = 0;
  }
}
