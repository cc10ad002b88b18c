// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A reliable, full-duplex, message-oriented connection between two programs. It carries whole
 * messages, in order, from a {@link Sender} on one side to the {@link Receiver} on the other.
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
 * <p><b>Threads:</b> one thread at a time may use a Sender, the Receiver or the Rma; each of them
 * may have another thread. Concurrent use of one of them loses messages and corrupts the
 * connection's memory. With assertions ({@code -ea}) or the system property {@code
 * ferrule.checkThreads=true} the second thread gets an {@link IllegalStateException} that names
 * both threads. Otherwise there is no check, and no cost. Any thread may call the methods of this
 * type.
 *
 * <p><b>Alignment:</b> the first byte of every message is aligned to 8 bytes, in a {@link
 * SendRegion} as well as in a {@link ReceiveRegion} or a {@link MessageHandler}. So aligned layouts
 * of longs and doubles may be used.
 *
 * <p><b>Memory after the close:</b> this side's {@link #close()} takes back the memory that the
 * connection has lent: regions, a handler's message, {@linkplain Rma#allocate allocated memory} and
 * {@linkplain RemoteMemory#view views}. Then {@code segment()} and {@code buffer()} of a region
 * throw a {@link ConnectionClosedException}, and freeing or aborting it does nothing. The program
 * must not use segments that it has kept: they read zeros or any bytes, or throw {@link
 * IllegalStateException}, but do not crash the JVM. A handler that is running can read its message
 * to the end. Registered and exposed memory belongs to the program alone again, unless another
 * connection uses it. The close or loss of the peer takes nothing back.
 */
public interface Connection extends AutoCloseable {

  /**
   * {@return the URI that identifies this connection in error messages and events: the complete
   * address of the listener, with this side's number of the connection as its fragment, as in
   * {@code sm:///tmp/app/4567/2#17}} The peer has another number for the same connection.
   */
  URI uri();

  /** {@return the sending half of this connection; always the same object} */
  Sender sender();

  /**
   * Opens a further Sender, for another thread. Its messages arrive in their order; messages of
   * different Senders have no order. In shared memory each Sender has space of its own: a thread
   * that stops or waits for space delays no other Sender. Over RDMA they share the connection's.
   *
   * @return the Sender, to be closed by the program, or with the connection
   * @throws IllegalStateException if all senders are closed, as the peer was notified that no
   *     further message follows; see {@link Sender#close}
   * @throws ResourceExhaustedException if as many as permitted are open, or memory is lacking
   * @throws UnsupportedOperationException if the provider does not support it
   */
  default Sender newSender() {
    throw new UnsupportedOperationException(
        "newSender is not supported by the provider of " + uri() + "; use sender()");
  }

  /**
   * {@return the receiving half of this connection; always the same object} If {@link
   * Listener#receiver()} receives the messages of this connection, those methods that receive throw
   * {@link IllegalStateException} while the listener is open.
   */
  Receiver receiver();

  /**
   * Returns the remote memory access of this connection.
   *
   * @return the remote memory access; always the same object
   * @throws UnsupportedOperationException if the provider does not support it
   * @throws FerruleException itself, no subclass, if the option {@code rma} requires a copy
   *     mechanism that is not available here; {@link ConnectionClosedException} or {@link
   *     PeerLostException} if the connection has ended as well
   */
  Rma rma();

  /**
   * Returns the descriptor and channel for a program that waits for many things in one thread.
   * While {@link Listener#receiver()} receives the messages of this connection, they show at {@link
   * Listener#readiness()} instead.
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
   * {@return a copy of the payload that the peer sent in the handshake: on the client's side that
   * of {@link ConnectionRequest#accept(byte[])}, on the listener's side that of {@link
   * ConnectionOptions.Builder#payload}; empty if there was none}
   */
  byte[] peerPayload();

  /**
   * Registers memory of the program, so that messages can be sent from it without a copy; see
   * {@link Sender#sendRegistered(RegisteredMemory, long, int)}. Every connection of the same
   * provider can use the result: a program that sends the same memory to many peers registers it
   * once.
   *
   * @param memory a native segment that any thread may access; it must stay alive until the
   *     registration is closed: close the registration, or the connection, before the arena
   * @return the registration, to be closed; at the latest it is closed when the program has closed
   *     this connection and all others that have used it, see {@link RegisteredMemory}
   * @throws IllegalArgumentException if the segment is on the heap or confined to one thread
   * @throws ResourceExhaustedException if the operating system refuses to pin that much memory
   * @throws ConnectionClosedException if the connection is closed
   */
  RegisteredMemory register(MemorySegment memory);

  /**
   * {@return the connection's state} The peer's close or death is reported as soon as it is
   * detected, which may be before the peer's last messages have been received. The close of all
   * senders of a side does not change it.
   */
  ConnectionState state();

  /**
   * {@return the failure that ended the connection; null unless {@link #state()} is {@link
   * ConnectionState#FAILED}}
   */
  @Nullable FerruleException failure();

  /**
   * Registers an action that runs when the connection leaves {@link ConnectionState#OPEN}, or at
   * once if it has already left that state. The action runs exactly once, on a thread of the
   * library or on a thread that closes either end of the connection, so it must not block. It may
   * close the connection, but that drops messages that are not yet received: see {@link
   * Listener#receiver} for a single receiver. An exception thrown by it is logged as a warning by
   * the logger {@code dev.ferrule.Connection}, and then dropped.
   *
   * @param action the action; receives this connection
   */
  void onClose(Consumer<Connection> action);

  /**
   * Removes an action that {@link #onClose} has registered, once if it was registered several
   * times.
   *
   * @param action the same object
   * @return whether the action was removed, so that it will not run; false if it runs or has run,
   *     or was not registered
   */
  boolean removeOnClose(Consumer<Connection> action);

  /**
   * {@return the end of the connection: completed with the {@link #state()} when that is no longer
   * {@link ConnectionState#OPEN}, and never exceptionally; always the same object} {@link
   * #failure()} returns the cause of a failure. Its dependent actions run where those of {@link
   * #onClose} do, so they must not block, or are {@code …Async} ones.
   */
  CompletionStage<ConnectionState> closed();

  /**
   * {@return a snapshot of the connection's counters} May be called after the connection was
   * closed.
   */
  ConnectionCounters counters();

  /**
   * Closes the connection after the transport has delivered the messages that were sent, or after
   * {@link StandardOptions#CLOSE_TIMEOUT}. The peer can receive every delivered message and then
   * gets {@link EndOfStreamException}; its calls that send throw {@link ConnectionClosedException}.
   * A peer that is sending at that moment gets only the latter, so a program expects both when its
   * peer departs. To end only the own messages, close the senders, see {@link Sender#close}; unlike
   * that, this method does not flush, and drops what is staged. Messages that this program has not
   * received are dropped. All regions become invalid, and {@linkplain RegisteredMemory registered
   * memory} that no other connection uses is closed. Every later call that would send or receive
   * throws {@link ConnectionClosedException}, but {@link IllegalStateException} by a closed Sender.
   *
   * <p>An interrupt does not shorten this method, and the interrupt status is preserved. A
   * connection that has failed, or that the peer has closed, must be closed, too: until then it
   * keeps its memory, its descriptors and the messages that are not received. Closing a closed
   * connection does nothing. Several threads may call this method concurrently: when any of the
   * calls returns, the connection is no longer {@link ConnectionState#OPEN}. Only the first call
   * waits for delivery. The others return at once, as does a call from within an {@link #onClose}
   * action.
   */
  @Override
  void close();

  /**
   * Closes the connection after the transport has delivered the messages that were sent, or after
   * the given timeout.
   *
   * @param timeout the maximum time to wait for delivery; zero drops messages that are not yet
   *     transmitted. The end of the peer's accesses to exposed memory may take longer, as in {@link
   *     ExposedMemory#close}
   */
  void close(Duration timeout);
}
