// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.competitor;

/** Two sides ready to be measured. Belongs to one thread at a time. */
public interface BenchmarkRun extends AutoCloseable {

  /**
   * Measures once. A time is measured over {@code count} messages, one after the other; a rate
   * until the last message has arrived.
   */
  Outcome measure(Measure measure, int size, int count);

  @Override
  default void close() {}
}
