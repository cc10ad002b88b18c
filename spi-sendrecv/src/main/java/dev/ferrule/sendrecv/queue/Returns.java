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

  /** Posts what was freed, if the peer can send nothing without. By the receiver's thread. */
  void freeForStarvingPeer();

  /** The queue pair is destroyed: what was not freed is of no use to this connection any more. */
  void close();
}
