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

  /** The peer has not answered a keepalive for too long, although its process lives. */
  void onPeerSilent();
}
