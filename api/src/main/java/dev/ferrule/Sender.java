// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of a {@link Connection}.
 *
 * <p>To send without a copy, claim, write and send: {@link #claim} returns a region of memory from
 * which the transport sends; {@link #sendAsync(SendRegion)} publishes it and returns an id at once.
 * {@link #send(MemorySegment)} copies a message and sends it in one call. {@link #stage} and {@link
 * #flush} send several messages together.
 *
 * {@snippet lang=java :
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-sender"))) {
 *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
 *   try (Connection server = listener.accept();
 *       Connection client = connecting.join()) {
 *     Sender sender = client.sender();
 *     SendRegion region = sender.claim(64);
 *     region.segment().setString(0, "hello");
 *     long id = sender.sendAsync(region);
 *     sender.await(id); // the region's memory may be reused from now on
 *     try (ReceiveRegion message = server.receiver().receive()) {
 *       System.out.println(message.segment().getString(0)); // hello
 *     }
 *     for (int i = 0; i < 8; i++) {
 *       sender.stage(MemorySegment.ofArray(new int[] {i})); // copied
 *     }
 *     sender.flush(); // sends all eight
 *     System.out.println(server.receiver().poll((buffer, offset, length) -> {}, 100)); // 8
 *   }
 * }
 * }
 *
 * <p><b>Ids</b> start at 1 and increase by 1 per message. An id is complete when the message's
 * memory may be reused: when the message is published in shared memory or, over RDMA, acknowledged
 * by the peer's device. Completion does not mean that the peer's program has read the message. When
 * the connection ends, incomplete ids fail.
 *
 * <p><b>Order:</b> messages of one Sender arrive in the order of its sends, regardless of that of
 * claims. Between Senders there is none: send by one of them what must stay in order. Several
 * regions may be claimed at once. A claim reserves all that its send needs, which never waits.
 *
 * <p><b>Batches:</b> each {@code stage} method prepares a message: a {@linkplain #stage(SendRegion)
 * claimed region}, a {@linkplain #stage(MemorySegment) copy}, or bytes in {@linkplain
 * #stage(RegisteredMemory, long, int) registered memory}, also {@linkplain #stage(MemorySegment,
 * RegisteredMemory, long, int) with a header}. {@link #flush} sends all staged messages together.
 * This costs less than sending them one by one: one doorbell over RDMA, one check for a sleeping
 * peer over shared memory. {@code send}, {@code sendAsync} and {@code await} of a staged message
 * flush too, as do {@code claim} and {@code stage} before they wait for space, and {@code tryClaim}
 * before it returns null. Messages that are not flushed when the connection is closed are not sent.
 *
 * <p><b>End:</b> {@link #close} of a connection's last Sender notifies the peer that no further
 * message follows, while the connection stays open, so that the peer can answer.
 *
 * <p><b>Back pressure:</b> when the peer receives more slowly than this side sends, {@link
 * #tryClaim} returns null and {@link #claim} waits, using the connection's {@link WaitStrategy}.
 * Neither loses or reorders messages.
 *
 * <p><b>Errors:</b> a method that claims, sends or waits throws {@link ConnectionClosedException}
 * if the connection is closed, by either side, and {@link PeerLostException} if the peer died; one
 * that waits for a message's completion does so if the message was not complete by then. A method
 * that waits throws {@link OperationInterruptedException} if the thread is interrupted meanwhile
 * and, if it waits for space, {@link IllegalStateException} if this program has claimed all buffer
 * space, so that the wait could never end. A length above {@link #maxMessageSize()} causes {@link
 * MessageTooLongException}, a negative one {@link IllegalArgumentException} or, for a part of a
 * segment, {@link IndexOutOfBoundsException}. A region that is not claimed, as it was already sent
 * or aborted, causes {@link IllegalStateException}; a region of another Sender, or a shorter one
 * than the length, and an id that this Sender never returned, {@link IllegalArgumentException}. The
 * methods name only what they throw beyond that.
 *
 * <p><b>Threads:</b> one thread at a time may use a Sender, see {@link Connection}. Only {@link
 * Connection#close()} may be called concurrently: it makes a blocked call throw {@link
 * ConnectionClosedException}.
 */
public interface Sender extends AutoCloseable {

  /** {@return the maximum length of a message in bytes, which the peer determines} */
  int maxMessageSize();

  /**
   * Claims a region for a message. Waits while there is no space.
   *
   * @param length the message's length in bytes; 0 to {@link #maxMessageSize()}
   * @return the region, to be sent or aborted
   */
  SendRegion claim(int length);

  /**
   * Claims a region for a message. Waits while there is no space, for the given timeout at most.
   *
   * @param length the message's length in bytes; 0 to {@link #maxMessageSize()}
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the region, to be sent or aborted
   * @throws OperationTimeoutException if there was no space within the timeout
   */
  SendRegion claim(int length, Duration timeout);

  /**
   * Claims a region for a message, if there is space. Does not wait until there is. Makes no system
   * call where there is space; if there is none, flushes. Allocates only while the program claims
   * more regions at once than ever before. Over shared memory it may pause for up to 1 µs for the
   * buffer of a large message.
   *
   * @param length the message's length in bytes; 0 to {@link #maxMessageSize()}
   * @return the region, to be sent or aborted; null if there is no space (back pressure)
   */
  @Nullable SendRegion tryClaim(int length);

  /**
   * Sends a claimed region in full. Does not wait.
   *
   * @param region a region claimed from this Sender
   * @return the message's id
   */
  default long sendAsync(SendRegion region) {
    return sendAsync(region, region.length());
  }

  /**
   * Sends the first bytes of a claimed region. Does not wait.
   *
   * @param region a region claimed from this Sender
   * @param length the number of bytes to send; 0 to the region's length
   * @return the message's id
   * @throws IllegalArgumentException if the region belongs to another Sender, or the length is out
   *     of range
   */
  long sendAsync(SendRegion region, int length);

  /**
   * Sends from registered memory, without a copy if the transport supports that. The bytes must not
   * be changed before the id is complete. Waits while there is no space.
   *
   * @param memory memory registered with any connection of the provider
   * @param offset the offset of the message in the memory, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessageSize()}
   * @return the message's id
   * @throws IllegalArgumentException if the memory was registered with another provider
   * @throws IllegalStateException if the registration is closed, or its memory has been freed
   */
  default long sendAsync(RegisteredMemory memory, long offset, int length) {
    return sendAsync(MemorySegment.NULL, memory, offset, length);
  }

  /**
   * Sends a header and bytes from registered memory as one message. The header is copied, and its
   * segment may be reused as soon as this method returns; the payload is treated as by {@link
   * #sendAsync(RegisteredMemory, long, int)}. Waits while there is no space.
   *
   * {@snippet lang=java :
   * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-gather"))) {
   *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
   *   try (Connection server = listener.accept();
   *       Connection client = connecting.join();
   *       RegisteredMemory prices = client.register(Arena.ofAuto().allocate(1 << 20))) {
   *     MemorySegment header = MemorySegment.ofArray(new long[] {42});
   *     long id = client.sender().sendAsync(header, prices, 4096, 8000);
   *     client.sender().await(id); // these prices may be changed from now on
   *     try (ReceiveRegion message = server.receiver().receive()) {
   *       System.out.println(message.length()); // 8008
   *     }
   *   }
   * }
   * }
   *
   * @param header the first bytes of the message, on or off the heap; may be empty
   * @param payload memory registered with any connection of the provider
   * @param offset the offset of the payload in the memory, in bytes
   * @param length the payload's length in bytes; together with the header's at most {@link
   *     #maxMessageSize()}
   * @return the message's id
   * @throws IllegalArgumentException if the memory was registered with another provider
   * @throws IllegalStateException if the registration is closed, or its memory has been freed
   */
  long sendAsync(MemorySegment header, RegisteredMemory payload, long offset, int length);

  /**
   * Sends a copy of a message. Waits while there is no space. The segment may be reused as soon as
   * this method returns.
   *
   * @param message the bytes to send, on or off the heap; at most {@link #maxMessageSize()}
   * @return the message's id
   */
  default long send(MemorySegment message) {
    return send(message, 0, message.byteSize());
  }

  /**
   * Sends a copy of a part of a segment. Waits while there is no space. The segment may be reused
   * as soon as this method returns.
   *
   * @param source the segment that contains the message, on or off the heap
   * @param offset the offset of the message in the segment, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessageSize()}
   * @return the message's id
   */
  long send(MemorySegment source, long offset, long length);

  /**
   * Stages a claimed region in full.
   *
   * @param region a region claimed from this Sender
   * @return the message's id, not complete before the next flush
   */
  default long stage(SendRegion region) {
    return stage(region, region.length());
  }

  /**
   * Stages the first bytes of a claimed region.
   *
   * @param region a region claimed from this Sender
   * @param length the number of bytes to send; 0 to the region's length
   * @return the message's id, not complete before the next flush
   * @throws IllegalArgumentException if the region belongs to another Sender, or the length is out
   *     of range
   */
  long stage(SendRegion region, int length);

  /**
   * Stages a copy of a message. The segment may be reused as soon as this method returns.
   *
   * @param message the bytes to send, on or off the heap; at most {@link #maxMessageSize()}
   * @return the message's id, not complete before the next flush
   */
  default long stage(MemorySegment message) {
    return stage(message, 0, message.byteSize());
  }

  /**
   * Stages a copy of a part of a segment. Flushes and waits if there is no space. The segment may
   * be reused as soon as this method returns. On failure, nothing is staged.
   *
   * @param source the segment that contains the message, on or off the heap
   * @param offset the offset of the message in the segment, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessageSize()}
   * @return the message's id, not complete before the next flush
   */
  long stage(MemorySegment source, long offset, long length);

  /**
   * Stages a message in registered memory, without a copy if the transport supports that. The bytes
   * must not be changed before the id is complete. Flushes and waits if there is no space.
   *
   * @param memory memory registered with any connection of the provider, not to be closed before
   *     the next flush
   * @param offset the offset of the message in the memory, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessageSize()}
   * @return the message's id, not complete before the next flush
   * @throws IllegalArgumentException if the memory was registered with another provider
   * @throws IllegalStateException if the registration is closed, or its memory has been freed
   */
  default long stage(RegisteredMemory memory, long offset, int length) {
    return stage(MemorySegment.NULL, memory, offset, length);
  }

  /**
   * Stages a header and bytes from registered memory as one message; see {@link
   * #sendAsync(MemorySegment, RegisteredMemory, long, int)}. Flushes and waits if there is no
   * space.
   *
   * @param header the first bytes of the message, on or off the heap; may be empty
   * @param payload memory registered with any connection of the provider, not to be closed before
   *     the next flush
   * @param offset the offset of the payload in the memory, in bytes
   * @param length the payload's length in bytes; together with the header's at most {@link
   *     #maxMessageSize()}
   * @return the message's id, not complete before the next flush
   * @throws IllegalArgumentException if the memory was registered with another provider
   * @throws IllegalStateException if the registration is closed, or its memory has been freed
   */
  long stage(MemorySegment header, RegisteredMemory payload, long offset, int length);

  /** {@return the number of messages staged since the last flush} */
  int staged();

  /**
   * Sends all staged messages. Does nothing if there are none, even when the connection is closed.
   */
  void flush();

  /**
   * {@return whether a message is complete, so that its memory may be reused}
   *
   * @param id an id that this Sender returned
   */
  boolean isComplete(long id);

  /**
   * Waits until a message and all earlier ones are complete, so that their memory may be reused. If
   * the message is staged, flushes first.
   *
   * @param id an id that this Sender returned
   */
  void await(long id);

  /**
   * Waits until a message is complete, for the given timeout at most.
   *
   * @param id an id that this Sender returned
   * @param timeout the maximum time to wait; zero or less does not wait
   * @throws OperationTimeoutException if the message was not complete within the timeout
   */
  void await(long id, Duration timeout);

  /**
   * Ends sending by this Sender: flushes, and aborts claimed regions. Later calls throw {@link
   * IllegalStateException}. Does not wait. Closing a closed Sender does nothing.
   *
   * <p>When all senders of the connection are closed, {@link Connection#sender()} and those of
   * {@link Connection#newSender}, the peer is notified that no further message follows
   * (half-close): it receives the messages that were sent, and then {@link EndOfStreamException}.
   * The connection remains open: the peer can send, this side can receive, and both must close it.
   */
  @Override
  void close();
}
