// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A passive endpoint: accepts clients at an address, as a server socket does.
 *
 * <table>
 * <caption>Ways to accept</caption>
 * <tr><th>returns</th><th>waiting</th><th>with a timeout</th><th>null if there is none</th></tr>
 * <tr><td>a client's connection, accepted</td><td>{@link #accept()}</td>
 * <td>{@link #accept(Duration)}</td><td>{@link #tryAccept()}</td></tr>
 * <tr><td>its request, to be accepted or rejected by its payload</td><td>{@link #nextRequest()}</td>
 * <td>{@link #nextRequest(Duration)}</td><td>{@link #tryNextRequest()}</td></tr>
 * </table>
 *
 * <p>A thread that waits for a client blocks, whatever the {@link WaitStrategy}.
 *
 * {@snippet lang=java :
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-listener"))) {
 *   Thread.startVirtualThread(
 *       () -> {
 *         ConnectionOptions options = ConnectionOptions.builder().payload("token".getBytes()).build();
 *         Ferrule.connect(listener.uri(), options).close();
 *       });
 *   ConnectionRequest request = listener.nextRequest();
 *   System.out.println(new String(request.payload())); // token
 *   request.accept("welcome".getBytes()).close();
 * }
 * }
 *
 * <p><b>Errors:</b> a method that waits for or returns a client throws {@link
 * ConnectionClosedException} if the listener is closed, and {@link OperationInterruptedException}
 * if the thread is interrupted while it waits. Other failures are a {@link FerruleException}, of
 * each later call if the RDMA device was removed.
 *
 * <p><b>Threads:</b> any number of threads may use a Listener. Closing it makes waiting threads
 * throw {@link ConnectionClosedException}. Accepted connections remain open.
 */
public interface Listener extends AutoCloseable {

  /**
   * {@return the address to connect to, a URI without options} It is complete, including the parts
   * that the system chose (a process id, a port).
   */
  URI uri();

  /**
   * Waits for the next connection request.
   *
   * @return the request, to be accepted or rejected
   */
  ConnectionRequest nextRequest();

  /**
   * Waits for the next connection request, for the given timeout at most.
   *
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the request, to be accepted or rejected
   * @throws OperationTimeoutException if there was no request within the timeout
   */
  ConnectionRequest nextRequest(Duration timeout);

  /**
   * Returns the next connection request, if there is one. Does not wait.
   *
   * @return the request, to be accepted or rejected; null if there is none
   */
  @Nullable ConnectionRequest tryNextRequest();

  /**
   * Waits for the next client and accepts it. Skips clients that give up before they are accepted,
   * and those that violate the protocol or announce more than this side permits; they get a reason.
   *
   * @return the connection, ready for messages
   * @throws ResourceExhaustedException if the system lacks a resource for another connection, or a
   *     limit of this side is reached; the client is notified. Clients can cause that by making
   *     many connections, so a server should report it and go on
   */
  Connection accept();

  /**
   * Waits for the next client and accepts it, for the given timeout at most. Skips the same clients
   * as {@link #accept()}. A client that is being accepted when the timeout expires may be returned
   * by the next call; it is no longer one of the {@linkplain #nextRequest() requests}.
   *
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the connection, ready for messages
   * @throws OperationTimeoutException if no client was accepted within the timeout
   */
  Connection accept(Duration timeout);

  /**
   * Accepts a client, if one is waiting. Does not wait. Skips the same clients as {@link
   * #accept()}. A client that is being accepted is returned by a later call, when it has confirmed.
   *
   * @return the connection, ready for messages; null if there is none
   * @throws ResourceExhaustedException as for {@link #accept()}
   */
  @Nullable Connection tryAccept();

  /**
   * Returns the single receiver of all connections that this listener has accepted or will accept:
   * one thread receives from all of them, in rotation. {@link ReceiveRegion#connection()} returns
   * the connection of a message; {@link Receiver#poll} does not identify it. Messages of one
   * connection stay in order. The program still accepts the clients: by {@link #accept()} in other
   * threads, or by {@link #tryAccept()} in the receiving one. docs/guide.md has an example.
   *
   * <p>From the first call on, messages are delivered to it, and the receivers of the individual
   * connections throw {@link IllegalStateException}. Only a connection whose own receiver was used
   * before keeps receiving its own messages. {@link Connection#onClose} reports the end of a
   * connection; the end of a client's messages, by {@link Sender#close}, is not reported here. The
   * program still closes each connection. This drops the messages not yet received, so the
   * receiving thread does it, after a {@link Receiver#tryReceive} that has returned null since the
   * report.
   *
   * <p>This receiver ends with its listener. From then on, each connection's receiver gets the
   * messages of that connection, including those already waiting. A region lent before is freed as
   * always, by the thread that uses the connection's receiver.
   *
   * <p>A program that holds all regions of a connection receives no more of its messages until it
   * frees some. Other clients may still send or connect, so receiving waits then, where a
   * connection's own receiver throws {@link IllegalStateException}.
   *
   * @return the receiver; always the same object
   * @throws UnsupportedOperationException if the provider does not support it
   * @throws IllegalStateException if the listener was opened without the required option, such as
   *     {@code singleReceiver=on}
   */
  default Receiver receiver() {
    throw new UnsupportedOperationException(
        "a common receiver is not supported by the provider of " + uri());
  }

  /**
   * Returns the descriptor and channel for a program that waits for many things in one thread. They
   * show waiting clients, and messages for {@link #receiver()}.
   *
   * @return the readiness; always the same object
   * @throws IllegalStateException if the option {@link StandardOptions#READINESS} is off
   * @throws UnsupportedOperationException if the provider does not support it
   */
  default Readiness readiness() {
    throw new UnsupportedOperationException(
        "readiness is not supported by the provider of " + uri());
  }

  /**
   * Stops listening, and refuses waiting and later clients. Accepted connections remain open.
   * Closing twice does nothing. Another listener can have the address when the accepted connections
   * are closed as well. Until then an endpoint of {@code sm} remains, such as {@code
   * sm:///dev/shm/app/4567/1}, but not as a listener of its directory; a port of RDMA may be free.
   */
  @Override
  void close();
}
