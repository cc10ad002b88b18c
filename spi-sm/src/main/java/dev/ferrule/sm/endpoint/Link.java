// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

/** A connection as its endpoint's control thread sees it. None of these methods may block. */
public interface Link {

  /** The peer has written something while a thread of this side slept, or may have. */
  void onWakeup();

  /**
   * The peer says that it has closed the connection; whether it has is to be read from shared
   * memory.
   */
  void onPeerClosed();

  /**
   * The reader of the peer's FIFO is gone: the peer has closed the connection, or its process has
   * died.
   */
  void onPeerGone();

  /**
   * There may be fragments of remote memory access for this side to handle; it handles some of
   * them.
   *
   * @return whether there are more, so that it is to be called again when others had their turn
   */
  boolean onFragments();

  /**
   * Tells whether the peer has submitted fragments that nobody has handled.
   *
   * @return whether it has
   */
  boolean hasFragments();

  /** The peer has not answered a keepalive for too long, although its process lives. */
  void onPeerSilent();
}
