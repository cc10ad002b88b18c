// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.posix.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The live objects by address, and the violations found. An address is never reused, and the
 * structure of a destroyed object is overwritten, so each use of a destroyed object is found.
 */
final class FabricObjects {

  private static final byte GARBAGE = (byte) 0xdb;
  private static final long ACKNOWLEDGMENT_MILLIS = 5_000;

  private final Object monitor;
  private final Arena arena = Arena.ofAuto();
  private final Map<Long, FabricObject> live = new ConcurrentHashMap<>();
  private final List<AssertionError> problems = new CopyOnWriteArrayList<>();

  FabricObjects(Object monitor) {
    this.monitor = monitor;
  }

  MemorySegment allocate(long size) {
    return arena.allocate(size, Long.BYTES);
  }

  <T extends FabricObject> T add(T object) {
    live.put(object.address(), object);
    return object;
  }

  <T extends FabricObject> T get(long address, Class<T> type) {
    FabricObject found = live.get(address);
    if (!type.isInstance(found)) {
      throw new AssertionError(
          "use of %x: %s, not a live %s"
              .formatted(address, found == null ? "destroyed" : found, type.getSimpleName()));
    }
    return type.cast(found);
  }

  /** Returns the live object at an address; null if there is none. */
  @Nullable FabricObject find(long address) {
    return live.get(address);
  }

  <T extends FabricObject> List<T> all(Class<T> type) {
    return live.values().stream().filter(type::isInstance).map(type::cast).toList();
  }

  /**
   * Destroys an object as the C functions do: returns EBUSY if it has users, and waits for
   * acknowledgments.
   */
  int destroy(FabricObject object) {
    if (object.users > 0) {
      problem(object + " is destroyed before " + object.users + " objects that use it");
      return -Errno.EBUSY;
    }
    awaitAcknowledgments(object);
    if (live.remove(object.address()) == null) {
      throw new AssertionError(object + " is destroyed twice");
    }
    object.structure.fill(GARBAGE);
    return 0;
  }

  void awaitAcknowledgments(FabricObject object) {
    long end = System.nanoTime() + ACKNOWLEDGMENT_MILLIS * 1_000_000;
    while (object.unacknowledged > 0) {
      if (System.nanoTime() - end > 0) {
        problem(object + " is destroyed with unacknowledged events: the call would not return");
        return;
      }
      try {
        monitor.wait(ACKNOWLEDGMENT_MILLIS);
      } catch (InterruptedException e) {
        throw new AssertionError("interrupted in the device", e);
      }
    }
  }

  void acknowledge(FabricObject object, int count) {
    object.unacknowledged -= count;
    if (object.unacknowledged < 0) {
      throw new AssertionError(object + ": more events acknowledged than taken");
    }
    monitor.notifyAll();
  }

  void problem(String text) {
    problem(new AssertionError(text));
  }

  void problem(AssertionError problem) {
    problems.add(problem);
  }

  List<AssertionError> problems() {
    return List.copyOf(problems);
  }

  /** Returns the number of live objects that the program has created, by kind. */
  Map<String, Integer> left() {
    Map<String, Integer> left = new TreeMap<>();
    for (FabricObject object : live.values()) {
      if (object.isOwnedByProgram()) {
        left.merge(object.getClass().getSimpleName(), 1, Integer::sum);
      }
    }
    return left;
  }
}
