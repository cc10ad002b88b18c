// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

/**
 * The message that waits, by readiness, for room: the longest that found none. Room is shown until
 * there is room for one of at least that length.
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

  /** Called when the sender found no room; it must look once more after this. */
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
