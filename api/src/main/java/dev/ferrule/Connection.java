// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A point-to-point connection: a {@link Sender} and a {@link Receiver} of whole messages, in order,
 * between exactly two programs.
 *
 * {@snippet lang=java :
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-connection"))) {
 *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri())); // usually another process
 *   try (Connection server = listener.accept();
 *       Connection client = connecting.join()) {
 *     client.sender().send(MemorySegment.ofArray("ping".getBytes()));
 *     try (ReceiveRegion message = server.receiver().receive()) {
 *       server.sender().send(message.segment()); // echo
 *     }
 *     try (ReceiveRegion echo = client.receiver().receive()) {
 *       System.out.println(echo.length() + " bytes came back"); // 4 bytes came back
 *     }
 *   }
 * }
 * }
 *
 * <p><b>Threads:</b> the Sender and the Receiver belong to one thread each (or to one for both);
 * every other method here may be called from any thread.
 *
 * <p><b>Memory:</b> all memory that a connection lends out is unmapped when it is closed; access to
 * it after that is an {@link IllegalStateException}, never a crash.
 */
public interface Connection extends AutoCloseable {

  /**
   * Returns the URI that names this connection in errors and events: the address that was connected
   * to or listened on, and in its fragment the number of the connection, as in {@code
   * sm:///tmp/app/4567/2#17}.
   *
   * @return the URI
   */
  URI uri();

  /**
   * Returns the sending half.
   *
   * @return always the same object
   */
  Sender sender();

  /**
   * Returns the receiving half.
   *
   * @return always the same object
   */
  Receiver receiver();

  /**
   * Returns the remote memory access of this connection.
   *
   * @return always the same object
   * @throws UnsupportedOperationException if the provider has none
   * @throws FerruleException if the options ask for a way of it that is not possible here
   */
  Rma rma();

  /**
   * Returns what the peer's program said when the connection was made: on the client's side the
   * payload of {@link ConnectionRequest#accept(byte[])}, on the listener's side that of {@link
   * ConnectionOptions.Builder#payload}.
   *
   * @return a copy of the payload; empty if there was none
   */
  byte[] peerPayload();

  /**
   * Makes memory of the program's own sendable; see {@link Sender#sendAsync(RegisteredMemory, long,
   * int)}.
   *
   * @param memory a native segment that any thread may access, which must stay alive until the
   *     registration is closed
   * @return the registration; closed with the connection at the latest
   * @throws IllegalArgumentException if the segment is on the heap or confined to one thread
   * @throws ResourceExhaustedException if the operating system refuses to pin that much memory
   * @throws ConnectionClosedException if the connection is closed
   */
  RegisteredMemory register(MemorySegment memory);

  /**
   * Returns where the connection is in its life. The peer's close or death shows here when it is
   * noticed, which may be before its last messages have been received.
   *
   * @return the state
   */
  ConnectionState state();

  /**
   * Returns why the connection ended.
   *
   * @return the failure if {@link #state()} is {@link ConnectionState#FAILED}, else null
   */
  @Nullable FerruleException failure();

  /**
   * Registers something to do when the connection leaves {@link ConnectionState#OPEN}; at once if
   * it has. It runs exactly once, on a thread of the library or of whoever closes the connection,
   * so it must not block; an exception from it is dropped.
   *
   * @param action is given this connection
   */
  void onClose(Consumer<Connection> action);

  /**
   * Returns what the connection has done so far; still works after it was closed.
   *
   * @return a snapshot of the counters
   */
  ConnectionCounters counters();

  /**
   * Closes the connection after letting the transport deliver what was sent, waiting for that no
   * longer than {@link StandardOptions#CLOSE_TIMEOUT}. The peer can receive everything that was
   * delivered, and then sees the end. Received messages that this program has not taken are
   * dropped, and all regions and registrations become invalid: from then on every call that would
   * send or receive throws {@link ConnectionClosedException}, whatever it is given.
   *
   * <p>Closing twice does nothing. Several threads may close at once: when the call of any of them
   * returns, the connection is no longer {@link ConnectionState#OPEN}. Only the first call waits
   * for what was sent; the others return at once, as does one from within an {@link #onClose}
   * action.
   */
  @Override
  void close();

  /**
   * Closes the connection, waiting for the transport to deliver what was sent no longer than given.
   *
   * @param flushTimeout how long to wait at most; zero drops what has not left yet
   */
  void close(Duration flushTimeout);
}
