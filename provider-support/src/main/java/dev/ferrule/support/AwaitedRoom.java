// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import java.util.HashMap;
import java.util.Map;

/**
 * The messages that wait, by readiness, for room. Room is shown until there is none of them any
 * more: a thread's longest message that found no room waits until that thread finds room for one of
 * at least that length.
 */
final class AwaitedRoom {

  private static final int NONE = -1;

  private final ReadinessDescriptor.Source source;
  private final boolean severalThreads;

  /** The longest message that waits, if one thread sends. */
  private int awaited = NONE;

  /** The same for each of several threads. Guarded by itself. */
  private final Map<Thread, Integer> longest = new HashMap<>();

  /**
   * Whether that has entries. Changed under the lock; read without it, as it is true for a thread
   * with an entry.
   */
  private boolean any;

  AwaitedRoom(ReadinessDescriptor.Source source, boolean severalThreads) {
    this.source = source;
    this.severalThreads = severalThreads;
    source.found(); // as no message waits yet
  }

  /** Shows that there may be room, or that the connection has ended. By any thread. */
  void raise() {
    source.raise();
  }

  /** Called when this thread found no room; it must look once more after this. */
  void foundNone(int length) {
    if (severalThreads) {
      add(length);
    } else {
      awaited = Math.max(awaited, length);
    }
    source.foundNothing();
  }

  private void add(int length) {
    synchronized (longest) {
      if (longest.getOrDefault(Thread.currentThread(), NONE) < length) {
        longest.put(Thread.currentThread(), length);
      }
      any = true;
    }
  }

  /** Called when this thread found room. */
  void found(int length) {
    if (severalThreads) {
      if (any) {
        remove(length);
      }
    } else if (awaited != NONE && awaited <= length) {
      awaited = NONE;
      source.found();
    }
  }

  private void remove(int length) {
    synchronized (longest) {
      Thread self = Thread.currentThread();
      boolean removed = longest.getOrDefault(self, Integer.MAX_VALUE) <= length;
      if (removed) {
        longest.remove(self);
      }
      longest.keySet().removeIf(thread -> !thread.isAlive());
      any = !longest.isEmpty();
      if (!any) {
        source.found();
      } else if (removed) {
        source.raise(); // there may be room for the other threads
      }
    }
  }
}
