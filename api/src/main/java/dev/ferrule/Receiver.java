// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a {@link Connection}: delivers the peer's messages whole and exactly once,
 * those of each {@link Sender} in its order. The first byte of a message is aligned to 8 bytes, see
 * {@link Connection}.
 *
 * <table>
 * <caption>Ways to receive, which may be mixed</caption>
 * <tr><th>call</th><th>waits for a message</th><th>without one</th><th>the message is freed</th></tr>
 * <tr><td>{@link #receive()}</td><td>without limit</td><td>–</td>
 * <td>by the program: {@link ReceiveRegion#close} or {@link #free}</td></tr>
 * <tr><td>{@link #receive(Duration)}</td><td>for the timeout at most</td>
 * <td>throws {@link OperationTimeoutException}</td><td>by the program</td></tr>
 * <tr><td>{@link #tryReceive()}</td><td>no</td><td>returns null</td><td>by the program</td></tr>
 * <tr><td>{@link #poll(MessageHandler, int)}</td><td>no</td><td>returns 0</td>
 * <td>when the handler returns</td></tr>
 * <tr><td>{@link #poll(MessageHandler, int, Duration)}</td><td>for the first one</td>
 * <td>returns 0 after the timeout</td><td>when the handler returns</td></tr>
 * </table>
 *
 * <p>{@code poll} is the fastest. Messages are read in the transport's receive memory, without a
 * copy; {@code receive} and {@code tryReceive} copy a short one in shared memory while another
 * region is held.
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
 * <p><b>Threads:</b> one thread at a time may use a Receiver, also to free, see {@link Connection}.
 * Only {@link Connection#close()} may be called concurrently: it makes a blocked call throw {@link
 * ConnectionClosedException}. {@link Listener#receiver} receives from many connections in one
 * thread.
 *
 * <p><b>End of stream:</b> when the peer has closed all its senders, or the connection, and its
 * last message was received, every method that receives throws {@link EndOfStreamException}. It
 * does so even if the peer dies after it has closed its senders. When the peer died before that,
 * they deliver every message that it had sent completely, and then throw {@link PeerLostException}.
 * When this side has closed the connection, they throw {@link ConnectionClosedException}, and when
 * the peer has violated the protocol {@link ProtocolException}. A method that waits throws {@link
 * OperationInterruptedException} if the thread is interrupted meanwhile.
 *
 * <p><b>Held regions:</b> received regions may be held, and freed in any order. They occupy buffer
 * space, so a program that holds too many makes the peer's sends wait (back pressure). A message is
 * never overwritten while it is held. {@code receive} and {@code tryReceive} throw {@link
 * IllegalStateException} if the program holds so many regions that no further message can arrive;
 * {@link Listener#receiver} waits then.
 *
 * <p><b>Sources:</b> {@code Receive} and {@code Free} in the RDMA messaging protocols of the
 * KnowYourMemory thesis, and CCI's sm transport, see docs/sources.md.
 */
public interface Receiver {

  /**
   * Waits for the next message, using the connection's {@link WaitStrategy}.
   *
   * @return the message; must be freed by {@link #free}
   */
  ReceiveRegion receive();

  /**
   * Waits for the next message, for the given timeout at most.
   *
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the message; must be freed by {@link #free}
   * @throws OperationTimeoutException if no message arrived within the timeout
   */
  ReceiveRegion receive(Duration timeout);

  /**
   * Returns the next message, if one has arrived. Does not wait for one, and does not allocate.
   * Makes no system call, except to wake a sender that sleeps until buffer space is free.
   *
   * @return the message, which must be freed by {@link #free}; null if none has arrived
   */
  @Nullable ReceiveRegion tryReceive();

  /**
   * Passes arrived messages to a handler, in order, and frees each one when the handler returns.
   * Costs what {@link #tryReceive} does. A thread that polls in a loop should call {@link #idle}.
   *
   * @param handler the handler; must not call this Receiver
   * @param limit the maximum number of messages; at least 1
   * @return the number of messages passed to the handler; 0 if none has arrived
   */
  int poll(MessageHandler handler, int limit);

  /**
   * Passes messages to a handler like {@link #poll(MessageHandler, int)}. If none has arrived,
   * waits for the first one, for the given timeout at most.
   *
   * @param handler the handler; must not call this Receiver
   * @param limit the maximum number of messages; at least 1
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the number of messages passed to the handler; 0 if none arrived within the timeout
   */
  int poll(MessageHandler handler, int limit, Duration timeout);

  /**
   * Pauses a loop that polls all the time, which calls this after each {@link #poll} or {@link
   * #tryReceive}: for at most 15 µs, by spinning, and only if that makes the stream faster, as the
   * receiver takes cache lines away that the sender writes. Does not wait for a message.
   */
  default void idle() {}

  /**
   * Frees a received region, in any order; the peer may then overwrite it. Does not wait. Does
   * nothing after this side has closed the connection.
   *
   * @param message a region received from this Receiver, and not freed yet
   */
  void free(ReceiveRegion message);
}
