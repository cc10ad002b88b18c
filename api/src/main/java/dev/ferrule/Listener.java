// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Waits at an address for clients. {@link #accept()} takes each one; {@link #nextRequest()} shows
 * the client's payload first and lets the program reject it.
 *
 * {@snippet lang=java :
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-listener"))) {
 *   Thread.startVirtualThread(
 *       () -> {
 *         ConnectionOptions options = ConnectionOptions.builder().payload("let me in".getBytes()).build();
 *         Ferrule.connect(listener.uri(), options).close();
 *       });
 *   ConnectionRequest request = listener.nextRequest();
 *   System.out.println(new String(request.payload())); // let me in
 *   request.accept("welcome".getBytes()).close();
 * }
 * }
 *
 * <p><b>Threads:</b> any number of threads may use a Listener. Closing it makes those that wait end
 * with a {@link ConnectionClosedException}; connections that were accepted live on.
 */
public interface Listener extends AutoCloseable {

  /**
   * Returns the address that clients connect to: complete, including what the system chose (a
   * process id, a port).
   *
   * @return the URI, without options
   */
  URI uri();

  /**
   * Waits for the next client that wants to connect.
   *
   * @return its request, to be accepted or rejected
   * @throws ConnectionClosedException if the listener is closed
   * @throws OperationInterruptedException if the thread was interrupted
   */
  ConnectionRequest nextRequest();

  /**
   * Waits for the next client that wants to connect, but not longer than the timeout.
   *
   * @param timeout how long to wait at most; zero or less does not wait
   * @return its request, to be accepted or rejected
   * @throws OperationTimeoutException if no client came in time
   * @throws ConnectionClosedException if the listener is closed
   * @throws OperationInterruptedException if the thread was interrupted
   */
  ConnectionRequest nextRequest(Duration timeout);

  /**
   * Returns the next client that wants to connect, if there is one. Does not wait.
   *
   * @return its request, to be accepted or rejected; or null
   * @throws ConnectionClosedException if the listener is closed
   */
  @Nullable ConnectionRequest pollRequest();

  /**
   * Waits for the next client and accepts it. Clients that give up before they are accepted are
   * passed over.
   *
   * @return the connection, ready for messages
   * @throws ConnectionClosedException if the listener is closed
   * @throws OperationInterruptedException if the thread was interrupted
   * @throws ResourceExhaustedException if the system has no room for another connection; the client
   *     is told
   */
  Connection accept();

  /**
   * Waits for the next client and accepts it, but not longer than the timeout. Clients that give up
   * before they are accepted are passed over. One that is just being accepted when the time is over
   * may be returned by the next call, and is not one of the {@linkplain #nextRequest() requests}
   * any more.
   *
   * @param timeout how long to wait at most; zero or less does not wait
   * @return the connection, ready for messages
   * @throws OperationTimeoutException if no client came in time
   * @throws ConnectionClosedException if the listener is closed
   * @throws OperationInterruptedException if the thread was interrupted
   * @throws ResourceExhaustedException if the system has no room for another connection; the client
   *     is told
   */
  Connection accept(Duration timeout);

  /**
   * Returns the one receiver of all connections that this listener has accepted and will accept:
   * one thread receives from them all, and {@link ReceiveRegion#connection()} tells from whom. From
   * the first call on their messages go there, and the receivers of the single connections throw an
   * {@link IllegalStateException}; only a connection whose own receiver was used before keeps its
   * messages. The order of messages is kept for each connection, and the connections take turns.
   * That a connection ends is told by {@link Connection#onClose}; what was not received by the time
   * it is closed is dropped.
   *
   * <p>This receiver ends with its listener. From then on, the receiver of each connection gets the
   * messages of that connection, those included that wait already. Messages that were lent out
   * before are freed as always, by the thread that uses the connection's receiver.
   *
   * <p>{@link Receiver#poll} works as well, but does not tell the connection.
   *
   * @return the receiver, the same one at each call
   * @throws UnsupportedOperationException if the provider cannot do this
   * @throws IllegalStateException if the listener was opened without the option that this needs,
   *     such as singleReceiver=on
   */
  default Receiver receiver() {
    throw new UnsupportedOperationException(
        "this provider has no receiver for all connections of a listener: " + uri());
  }

  /**
   * Stops listening: waiting clients are rejected. The address is given up, at the latest when the
   * connections that were accepted there are closed, too. Closing twice does nothing.
   */
  @Override
  void close();
}
