// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a {@link Connection}. Messages arrive whole, once, and in the order in
 * which the peer sent them.
 *
 * <p>Three ways to receive, which may be mixed: {@link #receive()} waits for a message and lends it
 * out as a region until it is freed; {@link #tryReceive()} does not wait; {@link #poll} hands
 * messages to a handler where they lie and frees them itself, which is the fastest.
 *
 * {@snippet lang=java :
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-receiver"))) {
 *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
 *   try (Connection server = listener.accept();
 *       Connection client = connecting.join()) {
 *     client.sender().send(MemorySegment.ofArray("hello".getBytes()));
 *     try (ReceiveRegion message = server.receiver().receive()) {
 *       System.out.println(message.length() + " bytes"); // 5 bytes
 *     } // freed here
 *   }
 * }
 * }
 *
 * <p><b>Threads:</b> one thread at a time may use a Receiver; it need not be the thread that uses
 * the {@link Sender}. Only {@link Connection#close()} may come from another thread: it makes a
 * blocked {@code receive} end with a {@link ConnectionClosedException}. Two threads that use a
 * Receiver at the same time, be it that one frees a region while the other receives, may get the
 * same message. With assertions ({@code -ea}) or the system property {@code
 * ferrule.checkThreads=true} the second of them gets an {@link IllegalStateException} that names
 * both threads; otherwise nothing is checked, so that it costs nothing.
 *
 * <p><b>The end:</b> when the peer has closed the connection and its last message was received,
 * every method here throws {@link ConnectionClosedException}; when the peer died, {@link
 * PeerLostException}, likewise after the messages it had completely sent. Nothing waits forever on
 * a dead peer.
 *
 * <p><b>Holding regions:</b> received regions may be held and freed in any order. What is held
 * takes up room, so a program that holds too much makes the peer's sends wait (back pressure); a
 * message is never overwritten while it is held.
 */
public interface Receiver {

  /**
   * Waits for the next message, by the connection's {@link WaitStrategy}, for as long as the
   * connection lives.
   *
   * @return the message; to be given back by {@link #free}
   * @throws ConnectionClosedException if the connection is closed and no message is left
   * @throws PeerLostException if the peer died and no message is left
   * @throws OperationInterruptedException if the thread was interrupted while blocked
   * @throws IllegalStateException if the program holds so many regions that none could ever arrive
   */
  ReceiveRegion receive();

  /**
   * Waits for the next message, but not longer than the timeout.
   *
   * @param timeout how long to wait at most; zero or less does not wait
   * @return the message; to be given back by {@link #free}
   * @throws OperationTimeoutException if no message came in time
   * @throws ConnectionClosedException if the connection is closed and no message is left
   * @throws PeerLostException if the peer died and no message is left
   * @throws OperationInterruptedException if the thread was interrupted while blocked
   * @throws IllegalStateException if the program holds so many regions that none could ever arrive
   */
  ReceiveRegion receive(Duration timeout);

  /**
   * Takes the next message if one is there. Does not wait or allocate, and makes no system call but
   * to wake up a sender that sleeps for want of room.
   *
   * @return the message, to be given back by {@link #free}; or null if none has arrived
   * @throws ConnectionClosedException if the connection is closed and no message is left
   * @throws PeerLostException if the peer died and no message is left
   * @throws IllegalStateException if the program holds so many regions that none could ever arrive
   */
  @Nullable ReceiveRegion tryReceive();

  /**
   * Hands messages that have arrived to the handler, in order, and frees each when the handler
   * returns. Does not wait or allocate, and makes no system call but to wake up a sender that
   * sleeps for want of room.
   *
   * @param handler takes each message; must not call this Receiver
   * @param limit how many messages to take at most; at least 1
   * @return how many messages were handed over; 0 if none has arrived
   * @throws IllegalArgumentException if the limit is less than 1
   * @throws ConnectionClosedException if the connection is closed and no message is left
   * @throws PeerLostException if the peer died and no message is left
   */
  int poll(MessageHandler handler, int limit);

  /**
   * Gives a received region back, in any order; the peer may then overwrite it. Does not wait.
   * Freeing after the connection was closed is allowed and does nothing.
   *
   * @param message a region that this Receiver lent out
   * @throws IllegalStateException if the region is not lent out (freed twice)
   * @throws IllegalArgumentException if the region is another connection's
   */
  void free(ReceiveRegion message);
}
