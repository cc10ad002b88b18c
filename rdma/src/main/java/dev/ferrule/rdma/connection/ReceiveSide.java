// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The receive side of a connection: its receive memory, and the receives that it posts.
 *
 * <p><b>Threads:</b> used by the thread that establishes the connection, then by the thread that
 * ends it.
 */
public interface ReceiveSide extends AutoCloseable {

  /**
   * {@return the number of receives posted to the connection's own receive queue; 0 if receives
   * come from a shared one} This is also the maximum number of completions, whatever the peer
   * sends.
   */
  int receives();

  /**
   * {@return the shared receive queue, if receives come from one; null if the connection has its
   * own}
   */
  @Nullable SharedReceiveQueue sharedQueue();

  /**
   * Allocates and registers the memory, and posts the receives. Called before the hello is sent and
   * before the peer can send messages.
   *
   * @param queuePair the queue pair, not connected
   * @throws VerbsException if the device fails; the caller must close the receive side in this case
   *     as well
   */
  void start(QueuePair queuePair);

  /** {@return the body of this side's hello} Called after {@link #start}. */
  HelloBody offer();

  /**
   * Derives the parameters of the connection from both hellos.
   *
   * @param peer the peer's valid hello; null without a handshake; this side then assumes its own
   *     parameters for the peer
   * @return the parameters of the connection
   */
  Agreement agree(@Nullable Hello peer);

  /** Stops posting receives, so that the queue pair can be destroyed. May be called twice. */
  void stop();

  /**
   * Releases all resources, even if only some have been acquired. Called after the queue pair is
   * destroyed.
   */
  @Override
  void close();

  /**
   * Frees the pages of receive memory that belongs to this connection only. Called after {@link
   * #close}. Otherwise the memory is freed when it is unreachable.
   */
  default void discard() {}
}
