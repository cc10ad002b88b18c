// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.transport;

/** The server's side of a contender, at an address that a client may connect to. */
public interface Listening extends AutoCloseable {

  /**
   * Returns what {@link Contender#connect} takes.
   *
   * @return the address, in one line
   */
  String address();

  /**
   * Waits for the client.
   *
   * @return the server's end, which is to be closed before this
   */
  Transport accept();

  /**
   * Ends the work of threads beside those that send and receive, as far as possible, until {@link
   * #resume}: while others are measured, it would take time from them.
   */
  default void pause() {}

  /** Goes on with the work after {@link #pause}. */
  default void resume() {}

  @Override
  void close();
}
