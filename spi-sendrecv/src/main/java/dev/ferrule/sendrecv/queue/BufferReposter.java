// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

/** Returns a connection's receive buffers to their receive queue. */
interface BufferReposter {

  /** Called when a buffer contains a message. Under the receive queue's lock. */
  void filled(int buffer);

  /**
   * Called when a buffer contained a control message. Under the receive queue's lock.
   *
   * @return 0, or -errno
   */
  int control(int buffer);

  /** Called when the content of a buffer is dropped. Under the receive queue's lock. */
  void dropped(int buffer);

  /** Frees the buffer of a message. By the receiver's thread. */
  void free(int buffer);

  /** Reposts the freed buffers if the peer cannot send without them. By the receiver's thread. */
  void repostForStarvingPeer();

  /**
   * Reposts all freed buffers, or lets a thread do so: the receiver's thread may not come back. By
   * any thread.
   */
  void repostAll();

  /** Called when the queue pair is destroyed: this connection can no longer use unfreed buffers. */
  void close();
}
