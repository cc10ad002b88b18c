// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a {@link Connection}. Messages are delivered whole, exactly once, and in
 * the order in which the peer sent them.
 *
 * <p>There are two ways to receive, which may be mixed. {@link #receive()} waits for a message and
 * returns it as a region, valid until it is freed; {@link #receive(Duration)} waits for a timeout
 * at most, and {@link #tryReceive()} not at all. {@link #poll(MessageHandler, int)} passes messages
 * to a handler in place and frees them itself, which is the fastest; {@link #poll(MessageHandler,
 * int, Duration)} waits for the first one.
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
 * Only {@link Connection#close()} may be called concurrently: it makes a blocked {@code receive}
 * throw {@link ConnectionClosedException}.
 *
 * <p><b>End of stream:</b> when the peer has closed all its senders, or the connection, and its
 * last message was received, every method that receives throws {@link EndOfStreamException}. It
 * does so even if the peer dies after it has closed its senders. When the peer died before that,
 * they throw {@link PeerLostException}, also after all messages that it had sent completely. When
 * this side has closed the connection, they throw {@link ConnectionClosedException}. No method
 * waits forever for a dead peer. One that waits throws {@link OperationInterruptedException} if the
 * thread is interrupted meanwhile.
 *
 * <p><b>Held regions:</b> received regions may be held, and freed in any order. They occupy buffer
 * space, so a program that holds too many makes the peer's sends wait (back pressure). A message is
 * never overwritten while it is held. {@code receive} and {@code tryReceive} throw {@link
 * IllegalStateException} if the program holds so many regions that no further message can arrive.
 */
public interface Receiver {

  /**
   * Waits for the next message, using the connection's {@link WaitStrategy}, as long as the
   * connection lives.
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
   * Pauses for at most 15 µs, by spinning, or not at all: in a stream over shared memory, a
   * receiver that is level with the sender takes each cache line away while it is written, and both
   * are slower. To be called after each {@link #poll} or {@link #tryReceive}.
   */
  default void idle() {}

  /**
   * Frees a received region, in any order; the peer may then overwrite it. Does not wait. Does
   * nothing after the connection was closed.
   *
   * @param message a region received from this Receiver, and not freed yet
   */
  void free(ReceiveRegion message);
}
