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

  private final ReadinessDescriptor.Source source;
  private final boolean severalThreads;

  /** By thread, if several send; otherwise there is one entry. Guarded by itself. */
  private final Map<Object, Integer> longest = new HashMap<>();

  /**
   * Whether there are entries. Changed under the lock; read without it, as it is true for a thread
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
    synchronized (longest) {
      longest.merge(waiting(), length, Math::max);
      any = true;
    }
    source.foundNothing();
  }

  /** Called when this thread found room. */
  void found(int length) {
    if (any) {
      remove(length);
    }
  }

  private void remove(int length) {
    synchronized (longest) {
      boolean removed = longest.getOrDefault(waiting(), Integer.MAX_VALUE) <= length;
      if (removed) {
        longest.remove(waiting());
      }
      if (severalThreads) {
        longest.keySet().removeIf(thread -> !((Thread) thread).isAlive());
      }
      any = !longest.isEmpty();
      if (!any) {
        source.found();
      } else if (removed) {
        source.raise(); // there may be room for the other threads
      }
    }
  }

  private Object waiting() {
    return severalThreads ? Thread.currentThread() : this;
  }
}
