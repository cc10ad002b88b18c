// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;

/**
 * A client that waits to be let in. It waits no longer than its own {@link
 * StandardOptions#CONNECT_TIMEOUT}, so a request is best answered at once; either {@code accept} or
 * {@code reject} is to be called, once, by any thread.
 *
 * {@snippet lang=java :
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-request"))) {
 *   Thread client = // usually another process
 *       Thread.startVirtualThread(
 *           () -> {
 *             try {
 *               Ferrule.connect(listener.uri()).close();
 *             } catch (ConnectionRejectedException e) {
 *               System.out.println(new String(e.payload())); // say who you are
 *             }
 *           });
 *   ConnectionRequest request = listener.nextRequest();
 *   if (request.payload().length == 0) {
 *     request.reject("say who you are".getBytes());
 *   } else {
 *     request.accept().close();
 *   }
 *   client.join();
 * }
 * }
 */
public interface ConnectionRequest {

  /**
   * Returns what the client gave to {@link ConnectionOptions.Builder#payload}.
   *
   * @return a copy of the payload; empty if there was none
   */
  byte[] payload();

  /**
   * Returns who asks, as far as the transport knows.
   *
   * @return the client's own address
   */
  URI peer();

  /**
   * Lets the client in.
   *
   * @return the connection, ready for messages
   * @throws ConnectionClosedException if the client has given up, or the listener was closed
   * @throws PeerLostException if the client died
   * @throws OperationTimeoutException if the client did not confirm in time
   * @throws ResourceExhaustedException if the system has no room for another connection; the client
   *     is told
   * @throws IllegalStateException if the request was answered already
   */
  default Connection accept() {
    return accept(new byte[0]);
  }

  /**
   * Lets the client in and tells it something.
   *
   * @param payload what the client gets from {@link Connection#peerPayload()}; see {@link
   *     ConnectionOptions.Builder#payload} for its size
   * @return the connection, ready for messages
   * @throws ConnectionClosedException if the client has given up, or the listener was closed
   * @throws PeerLostException if the client died
   * @throws OperationTimeoutException if the client did not confirm in time
   * @throws ResourceExhaustedException if the system has no room for another connection; the client
   *     is told
   * @throws IllegalStateException if the request was answered already
   * @throws IllegalArgumentException if the payload is too long for the transport
   */
  Connection accept(byte[] payload);

  /**
   * Turns the client away: its connect ends with a {@link ConnectionRejectedException}.
   *
   * @throws IllegalStateException if the request was answered already
   */
  default void reject() {
    reject(new byte[0]);
  }

  /**
   * Turns the client away and tells it something.
   *
   * @param payload what the client gets from {@link ConnectionRejectedException#payload()}
   * @throws IllegalStateException if the request was answered already
   * @throws IllegalArgumentException if the payload is too long for the transport
   */
  void reject(byte[] payload);
}
