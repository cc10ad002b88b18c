// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import org.jspecify.annotations.Nullable;

/**
 * A map whose keys are the numbers of queue pairs, so that looking one up allocates nothing: a
 * table with open addressing and linear probing, half empty at least.
 *
 * <p><b>Threads:</b> for one at a time.
 */
final class NumberTable<T> {

  private static final int SMALLEST = 16;
  private static final int SPREAD = 0x9e3779b9; // the golden ratio: neighbours come to lie apart

  private int[] numbers = new int[SMALLEST];
  private @Nullable Object[] values = new Object[SMALLEST]; // null where there is nothing
  private int size;

  /** Returns what belongs to a number; null if nothing does. */
  @SuppressWarnings("unchecked") // only put fills the table
  @Nullable T get(int number) {
    return (T) values[find(number)];
  }

  /** Adds a value, in place of the one that the number had. */
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

  /** Takes a number out, if it is there. */
  void remove(int number) {
    int hole = find(number);
    if (values[hole] == null) {
      return;
    }
    size--;
    values[hole] = null;
    // What lies behind may have been put there only because the hole was taken.
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

  /** Where a number is, or would have to be. */
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
