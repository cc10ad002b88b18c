// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;

/**
 * A connection request of a client, which {@link Listener#nextRequest()} returns, to be accepted or
 * rejected by its payload. The client waits for {@link StandardOptions#CONNECT_TIMEOUT} at most, so
 * answer a request without delay. Call exactly one of {@code accept} and {@code reject}, once, from
 * any thread.
 *
 * {@snippet lang=java :
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-request"))) {
 *   Thread client = // usually another process
 *       Thread.startVirtualThread(
 *           () -> {
 *             try {
 *               Ferrule.connect(listener.uri()).close();
 *             } catch (ConnectionRejectedException e) {
 *               System.out.println(new String(e.payload())); // credentials required
 *             }
 *           });
 *   try (ConnectionRequest request = listener.nextRequest()) { // rejected if it is not answered
 *     if (request.payload().length == 0) {
 *       request.reject("credentials required".getBytes());
 *     } else {
 *       request.accept().close();
 *     }
 *   }
 *   client.join();
 * }
 * }
 */
public interface ConnectionRequest extends AutoCloseable {

  /**
   * {@return a copy of the payload set by {@link ConnectionOptions.Builder#payload} on the client's
   * side; empty if there was none}
   */
  byte[] payload();

  /** {@return the client's address, as far as the transport knows it} */
  URI peer();

  /**
   * Accepts the client's connection, as {@link #accept(byte[])} with an empty payload does.
   *
   * @return the connection, ready for messages
   */
  default Connection accept() {
    return accept(new byte[0]);
  }

  /**
   * Accepts the client's connection and sends a payload to the client.
   *
   * @param payload the payload, which the client reads by {@link Connection#peerPayload()}; see
   *     {@link ConnectionOptions.Builder#payload} for its maximum size
   * @return the connection, ready for messages
   * @throws ConnectionClosedException if the client gave up, or the listener was closed
   * @throws PeerLostException if the client died
   * @throws ProtocolException if the client violated the protocol, or announces more than this side
   *     permits; the client is notified
   * @throws OperationTimeoutException if the client did not confirm within the timeout
   * @throws ResourceExhaustedException if the system lacks a resource for another connection; the
   *     client is notified
   * @throws IllegalStateException if the request was already accepted or rejected
   * @throws MessageTooLongException if the payload is too long for the transport
   */
  Connection accept(byte[] payload);

  /** Rejects the client, as {@link #reject(byte[])} with an empty payload does. */
  default void reject() {
    reject(new byte[0]);
  }

  /**
   * Rejects the client, whose {@code connect} throws {@link ConnectionRejectedException}, and sends
   * a payload to it.
   *
   * @param payload the payload, which the client reads by {@link
   *     ConnectionRejectedException#payload()}
   * @throws IllegalStateException if the request was already accepted or rejected
   * @throws MessageTooLongException if the payload is too long for the transport
   */
  void reject(byte[] payload);

  /** Rejects the client, unless the request was answered, or the client has given up. */
  @Override
  default void close() {
    try {
      reject();
    } catch (IllegalStateException | FerruleException e) {
      // it was answered, or the client or the listener is gone
    }
  }
}
