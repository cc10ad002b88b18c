// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import org.jspecify.annotations.Nullable;

/**
 * A map from queue pair numbers to values that does not allocate on lookup: open addressing with
 * linear probing, and a load factor of at most one half.
 *
 * <p><b>Threads:</b> one thread at a time uses it.
 */
final class NumberTable<T> {

  private static final int SMALLEST = 16;
  private static final int SPREAD =
      0x9e3779b9; // 2^32 divided by the golden ratio: spreads consecutive numbers

  private int[] numbers = new int[SMALLEST];
  private @Nullable Object[] values = new Object[SMALLEST]; // null for a free slot
  private int size;

  /** Returns the value of a number; null if there is none. */
  @SuppressWarnings("unchecked") // only put writes values
  @Nullable T get(int number) {
    return (T) values[find(number)];
  }

  /** Sets the value of a number. */
  void put(int number, T value) {
    if (2 * (size + 1) > values.length) {
      grow();
    }
    int slot = find(number);
    if (values[slot] == null) {
      size++;
    }
    numbers[slot] = number;
    values[slot] = value;
  }

  /** Removes a number, if present. */
  void remove(int number) {
    int hole = find(number);
    if (values[hole] == null) {
      return;
    }
    size--;
    values[hole] = null;
    // The removed entry may have displaced the following ones.
    int slot = next(hole);
    while (values[slot] != null) {
      Object value = values[slot];
      values[slot] = null;
      int better = find(numbers[slot]);
      numbers[better] = numbers[slot];
      values[better] = value;
      slot = next(slot);
    }
  }

  /** Returns the slot of a number, or the free slot for it. */
  private int find(int number) {
    int slot = number * SPREAD >>> Integer.numberOfLeadingZeros(values.length - 1);
    while (values[slot] != null && numbers[slot] != number) {
      slot = next(slot);
    }
    return slot;
  }

  private int next(int slot) {
    return slot + 1 & values.length - 1;
  }

  private void grow() {
    int[] oldNumbers = numbers;
    @Nullable Object[] oldValues = values;
    numbers = new int[2 * oldNumbers.length];
    values = new Object[2 * oldValues.length];
    for (int i = 0; i < oldValues.length; i++) {
      if (oldValues[i] != null) {
        int slot = find(oldNumbers[i]);
        numbers[slot] = oldNumbers[i];
        values[slot] = oldValues[i];
      }
    }
  }
}
