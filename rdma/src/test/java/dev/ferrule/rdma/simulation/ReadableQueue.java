// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.posix.EventDescriptor;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Pending events, and a descriptor that is readable while there are any. */
final class ReadableQueue<E> implements AutoCloseable {

  private final EventDescriptor descriptor = new EventDescriptor();
  private final ArrayDeque<E> events = new ArrayDeque<>();

  int descriptor() {
    return descriptor.number();
  }

  void add(E event) {
    events.add(event);
    if (events.size() == 1) {
      descriptor.setReadable(true);
    }
  }

  @Nullable E poll() {
    E event = events.poll();
    if (event != null && events.isEmpty()) {
      descriptor.setReadable(false);
    }
    return event;
  }

  long count(Predicate<E> which) {
    return events.stream().filter(which).count();
  }

  /** Removes events and returns them. */
  List<E> remove(Predicate<E> which) {
    List<E> removed = events.stream().filter(which).toList();
    if (events.removeAll(removed) && events.isEmpty()) {
      descriptor.setReadable(false);
    }
    return removed;
  }

  @Override
  public void close() {
    descriptor.close();
  }
}
