// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

/**
 * The length of the longest message that found no room, and for which the program waits by
 * readiness. The readiness shows room until a message of at least that length finds room.
 */
final class AwaitedRoom {

  private static final int NONE = -1;

  private final ReadinessDescriptor.Source source;
  private int awaited = NONE; // the length of the longest message that waits

  AwaitedRoom(ReadinessDescriptor.Source source) {
    this.source = source;
    source.found(); // as no message waits yet
  }

  /** Shows that there may be room, or that the connection has ended. By any thread. */
  void raise() {
    source.raise();
  }

  /** Called when the sender found no room; it must check once more after this. */
  void foundNone(int length) {
    awaited = Math.max(awaited, length);
    source.foundNothing();
  }

  /** Called when the sender found room. */
  void found(int length) {
    if (awaited != NONE && awaited <= length) {
      awaited = NONE;
      source.found();
    }
  }
}
