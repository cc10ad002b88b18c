// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

/** The server's side of a transport, with the address for a client. */
public interface Listening extends AutoCloseable {

  /** {@return the address for {@link TransportUnderTest#connect}, in one line} */
  String address();

  /** Waits for the client. The returned end must be closed before this object. */
  Transport accept();

  /**
   * Suspends threads other than those that send and receive, as far as possible, until {@link
   * #resume}: they would disturb other measurements.
   */
  default void pause() {}

  /** Resumes the threads after {@link #pause}. */
  default void resume() {}

  @Override
  default void close() {}
}
