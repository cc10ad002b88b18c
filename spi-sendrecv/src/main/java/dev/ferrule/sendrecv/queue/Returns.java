// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

/** How a connection's receive buffers get posted again. */
interface Returns {

  /** A message is in a buffer. Under the receive queue's lock. */
  void taken(int buffer);

  /**
   * A control message was in a buffer. Under the receive queue's lock.
   *
   * @return 0, or -errno
   */
  int control(int buffer);

  /** Nothing that anybody wants is in a buffer. Under the receive queue's lock. */
  void dropped(int buffer);

  /** The program has done with the message in a buffer. By the receiver's thread. */
  void free(int buffer);

  /**
   * Posts what was freed, if the peer can send nothing without, or somebody has asked. By the
   * receiver's thread.
   */
  void freeForStarvingPeer();

  /**
   * Whether some that were freed are not posted, nor on their way to a thread that does. The
   * receiver's thread posts them from now on when it frees or looks the next time. By any thread.
   */
  boolean keepsAny();

  /** The queue pair is destroyed: what was not freed is of no use to this connection any more. */
  void close();
}
