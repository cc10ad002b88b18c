// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

/** Returns a connection's receive buffers to their receive queue. */
interface BufferReposter {

  /** Called when a buffer contains a message. Under the receive queue's lock. */
  void taken(int buffer);

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

  /**
   * Reposts the freed buffers if the peer cannot send without them, or if {@link #keepsAny} has
   * requested it. By the receiver's thread.
   */
  void freeForStarvingPeer();

  /**
   * Returns whether freed buffers are neither posted nor handed to a thread that posts them. If so,
   * the receiver's thread posts them when it next frees or polls. By any thread.
   */
  boolean keepsAny();

  /** Called when the queue pair is destroyed: this connection can no longer use unfreed buffers. */
  void close();
}
