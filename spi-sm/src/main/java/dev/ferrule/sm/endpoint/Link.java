// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.spi.ConnectionSample;

/** A connection's handlers of events. The endpoint's thread calls them; none of them may block. */
public interface Link {

  /** Called when the peer has written, or may have, while a thread of this side slept. */
  void onWakeup();

  /** Called when the peer announces that it has closed; shared memory says whether it has. */
  void onPeerClosed();

  /** Called when the peer's FIFO has lost its reader: the peer has closed, or has died. */
  void onPeerGone();

  /**
   * Handles a batch of the fragments of remote memory access that may be pending for this side.
   *
   * @return whether there are more, so that it must be called again after the other links
   */
  boolean onFragments();

  /** {@return whether the peer has submitted fragments that are not handled yet} */
  boolean hasFragments();

  /**
   * {@return the counters of the connection}
   *
   * @param number its number at this endpoint
   * @param nanos the time, by System.nanoTime
   */
  ConnectionSample sample(int number, long nanos);

  /** Called when the peer, which lives, has not answered keepalives within the timeout. */
  void onPeerSilent();
}
