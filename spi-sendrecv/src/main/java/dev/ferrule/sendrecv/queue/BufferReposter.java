// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

/** Reposts a connection's receive buffers to their receive queue. */
interface BufferReposter {

  /** Records that a buffer contains a message. Under the receive queue's lock. */
  void filled(int buffer);

  /**
   * Reposts the buffer of a control message. Under the receive queue's lock.
   *
   * @return 0, or -errno
   */
  int control(int buffer);

  /** Handles a buffer whose content is dropped. Under the receive queue's lock. */
  void dropped(int buffer);

  /** Frees the buffer of a message. By the receiver's thread. */
  void free(int buffer);

  /** Reposts the freed buffers if the peer cannot send without them. By the receiver's thread. */
  void repostForBlockedPeer();

  /**
   * Reposts all freed buffers, or has another thread do so, because the receiver's thread may never
   * call again. By any thread.
   */
  void repostAll();

  /**
   * Ends reposting, when the queue pair is destroyed. The connection no longer owns buffers that
   * are not freed.
   */
  void close();
}
