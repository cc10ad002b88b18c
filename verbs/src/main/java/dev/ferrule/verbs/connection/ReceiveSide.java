// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * What one connection receives into: its memory, and the receives that it posts.
 *
 * <p><b>Threads:</b> the thread that makes the connection, and then the one that ends it; {@link
 * #stray} is for any.
 */
public interface ReceiveSide extends AutoCloseable {

  /**
   * Returns how many receives are posted to the connection's own receive queue. There are never
   * more completions than receives, whatever the peer sends.
   *
   * @return the number; 0 if there is a shared one
   */
  int receives();

  /**
   * Returns the shared receive queue, if receives come from one.
   *
   * @return the queue; null if the connection has its own
   */
  @Nullable SharedReceiveQueue sharedQueue();

  /**
   * Makes the memory, registers it, and posts the receives: before the peer can send anything, and
   * before it is told of them.
   *
   * @param queuePair the queue pair, not connected
   * @throws VerbsException if the device refuses; the receive side is to be closed then, too
   */
  void start(QueuePair queuePair);

  /**
   * Returns what this side's hello says of it. Called after {@link #start}.
   *
   * @return the body
   */
  HelloBody offer();

  /**
   * Puts together what both sides have offered.
   *
   * @param peer the peer's hello, which is one; null without a handshake, where this side can only
   *     suppose that the peer is like it
   * @return what they agree on
   */
  Agreement agree(@Nullable Hello peer);

  /**
   * A receive is done and belongs to nobody, as its connection is closed. Under a lock, so this
   * must not block.
   *
   * @param receive the work request's id
   */
  void stray(int receive);

  /** Posts no more of its own, so that the queue pair can be destroyed. May be called twice. */
  void stop();

  /** Gives everything up, once the queue pair is destroyed; however far it has come. */
  @Override
  void close();
}
