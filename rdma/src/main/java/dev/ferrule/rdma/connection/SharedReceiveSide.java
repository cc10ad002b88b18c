// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.verbs.VerbsException;

/**
 * The receive side that the connections of a listener on one device share.
 *
 * <p><b>Threads:</b> safe for use by several threads.
 */
public interface SharedReceiveSide extends AutoCloseable {

  /**
   * {@return the total number of receives} Each completion occupies one receive until it is polled,
   * so this is also the maximum number of completions, whatever the peers send. A single peer that
   * ignores its credit can cause all of them.
   */
  int receives();

  /**
   * Adds a connection.
   *
   * @return the receive side of the connection, to be closed
   * @throws VerbsException if resources for another connection are exhausted
   */
  ReceiveSide admit();

  /**
   * Handles the completion of a receive whose connection is closed. Called under a lock; must not
   * block.
   *
   * @param receive the work request's id
   */
  void repostUnowned(int receive);

  /** Releases all resources, after all connections are closed. */
  @Override
  void close();

  /** Frees the pages of the receive memory, after {@link #close}. */
  void discard();
}
