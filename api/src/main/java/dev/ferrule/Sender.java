// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of a {@link Connection}: a stream of whole messages with back pressure, batches
 * and completion ids.
 *
 * <table>
 * <caption>Ways to send</caption>
 * <tr><th>the message</th><th>sent at once</th><th>sent by the next {@link #flush}</th>
 * <th>copies</th><th>its source may be changed</th></tr>
 * <tr><td>is written in place, to a region that {@link #claim} returns</td>
 * <td>{@link SendRegion#commit()}</td><td>{@link SendRegion#stage()}</td>
 * <td>0</td><td>until that call</td></tr>
 * <tr><td>is copied from a segment</td>
 * <td>{@link #send(MemorySegment)}</td><td>{@link #stage(MemorySegment)}</td>
 * <td>1</td><td>after the call</td></tr>
 * <tr><td>is read from registered memory, after a copied header if there is one</td>
 * <td>{@link #sendRegistered(RegisteredMemory, long, int) sendRegistered}</td>
 * <td>{@link #stageRegistered(RegisteredMemory, long, int) stageRegistered}</td>
 * <td>0 over RDMA, 1 in shared memory</td><td>when its id is complete; the header after the
 * call</td></tr>
 * </table>
 *
 * <p>In shared memory, a short message that is written in place is copied by its commit if another
 * region was claimed before it, or another message was sent meanwhile. The first byte of a message
 * is aligned to 8 bytes, see {@link Connection}.
 *
 * {@snippet lang=java :
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-sender"))) {
 *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
 *   try (Connection server = listener.accept();
 *       Connection client = connecting.join()) {
 *     Sender sender = client.sender();
 *     try (SendRegion region = sender.claim(64)) {
 *       region.segment().setString(0, "hello");
 *       region.commit(); // without it, the end of the block aborts the region
 *     }
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
 * <p><b>Waiting:</b> there is no space for a message while the peer receives more slowly than this
 * side sends (back pressure). What a call does then depends on its form:
 *
 * <table>
 * <caption>Without space</caption>
 * <tr><th>call</th><th>result</th></tr>
 * <tr><td>{@code claim}, {@code send}, {@code stage} and the like</td>
 * <td>waits, using the connection's {@link WaitStrategy}</td></tr>
 * <tr><td>the same with a {@link Duration}</td>
 * <td>waits for the timeout at most, then throws {@link OperationTimeoutException}</td></tr>
 * <tr><td>{@link #tryClaim}</td><td>returns null at once</td></tr>
 * <tr><td>{@code trySend}, {@code tryStage} and the like</td><td>return 0 at once</td></tr>
 * </table>
 *
 * <p>Each of them first flushes what is staged. A call that gives up has no other effect. {@link
 * #await} waits for completion, not for space. The other methods do not wait: a claim reserves all
 * that its commit needs, and a staged message all that its flush needs.
 *
 * <p><b>Ids</b> start at 1 and increase by 1 per message. An id is complete when the message's
 * memory may be reused: when the message is published in shared memory or, over RDMA, acknowledged
 * by the peer's device. Completion does not mean that the peer's program has read the message. When
 * the connection ends, incomplete ids fail. Only sends from registered memory need ids.
 *
 * <p><b>Order:</b> messages of one Sender arrive in the order of its sends, regardless of that of
 * claims. Several regions may be claimed at once. Messages of different Senders have no order: send
 * by one of them what must stay in order.
 *
 * <p><b>Batches:</b> {@link #flush} sends all staged messages together. This costs less than
 * sending them one by one: one doorbell over RDMA, one check for a sleeping peer over shared
 * memory. Each method that sends flushes what was staged before, and so does {@link #await} of a
 * staged message. The id of a staged message is not complete before its flush; the registration of
 * staged memory must stay open until then. {@link #close} flushes; {@link Connection#close()} drops
 * what is not flushed.
 *
 * <p><b>End:</b> {@link #close} of a connection's last Sender notifies the peer that no further
 * message follows, while the connection stays open, so that the peer can answer.
 *
 * <p><b>Errors:</b> a method of an open Sender that claims, sends or waits throws {@link
 * ConnectionClosedException} if the connection is closed, by either side, {@link PeerLostException}
 * if the peer died, and {@link ProtocolException} if it violated the protocol; one that waits for a
 * message's completion does so if the message was not complete by then. A method that waits throws
 * {@link OperationInterruptedException} if the thread is interrupted meanwhile and, if it waits for
 * space, {@link IllegalStateException} if this program has claimed all buffer space, so that the
 * wait could never end. A length above {@link #maxMessage()} causes {@link
 * MessageTooLongException}, a negative one {@link IllegalArgumentException} or, for a part of a
 * segment, {@link IndexOutOfBoundsException}. Registered memory of another provider, and an id that
 * this Sender never returned, cause {@link IllegalArgumentException}; memory that was freed, or
 * whose registration is closed, {@link IllegalStateException}. The methods name only what they
 * throw beyond that. On failure, nothing is sent or staged.
 *
 * <p><b>Threads:</b> one thread at a time may use a Sender, see {@link Connection}. Only {@link
 * Connection#close()} may be called concurrently: it makes a blocked call throw {@link
 * ConnectionClosedException}. {@link Connection#newSender} opens a Sender for another thread.
 *
 * <p><b>Sources:</b> ids are those of {@code SendAsync} and {@code Wait} in the RDMA messaging
 * protocols of the KnowYourMemory thesis; doorbell batching is described by Kalia, Kaminsky and
 * Andersen, USENIX ATC 2016. docs/sources.md has the bibliography.
 */
public interface Sender extends AutoCloseable {

  /** {@return the maximum length of a message in bytes, which the peer determines} */
  int maxMessage();

  /**
   * Claims a region for a message. Waits while there is no space.
   *
   * @param length the message's length in bytes; 0 to {@link #maxMessage()}
   * @return the region, to be committed, staged or aborted
   */
  SendRegion claim(int length);

  /**
   * Claims a region for a message, and waits for the timeout at most.
   *
   * @param length the message's length in bytes; 0 to {@link #maxMessage()}
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the region, to be committed, staged or aborted
   */
  SendRegion claim(int length, Duration timeout);

  /**
   * Claims a region for a message, if there is space. Makes no system call then; if there is none,
   * flushes. Allocates only while the program claims more regions at once than ever before. Over
   * shared memory it may pause for up to 1 µs for the buffer of a large message.
   *
   * @param length the message's length in bytes; 0 to {@link #maxMessage()}
   * @return the region, to be committed, staged or aborted; null if there is no space
   */
  @Nullable SendRegion tryClaim(int length);

  /**
   * Sends a copy of a message. Waits while there is no space.
   *
   * @param message the bytes, on or off the heap; at most {@link #maxMessage()}
   * @return the message's id
   */
  default long send(MemorySegment message) {
    return send(message, 0, message.byteSize());
  }

  /**
   * Sends a copy of a message, and waits for the timeout at most.
   *
   * @param message the bytes, on or off the heap; at most {@link #maxMessage()}
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the message's id
   */
  default long send(MemorySegment message, Duration timeout) {
    return send(message, 0, message.byteSize(), timeout);
  }

  /**
   * Sends a copy of a message, if there is space.
   *
   * @param message the bytes, on or off the heap; at most {@link #maxMessage()}
   * @return the message's id; 0 if there is no space
   */
  default long trySend(MemorySegment message) {
    return trySend(message, 0, message.byteSize());
  }

  /**
   * Sends a copy of a part of a segment. Waits while there is no space.
   *
   * @param source the segment that contains the message, on or off the heap
   * @param offset the offset of the message in the segment, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessage()}
   * @return the message's id
   */
  long send(MemorySegment source, long offset, long length);

  /**
   * Sends a copy of a part of a segment, and waits for the timeout at most.
   *
   * @param source the segment that contains the message, on or off the heap
   * @param offset the offset of the message in the segment, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessage()}
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the message's id
   */
  long send(MemorySegment source, long offset, long length, Duration timeout);

  /**
   * Sends a copy of a part of a segment, if there is space.
   *
   * @param source the segment that contains the message, on or off the heap
   * @param offset the offset of the message in the segment, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessage()}
   * @return the message's id; 0 if there is no space
   */
  long trySend(MemorySegment source, long offset, long length);

  /**
   * Sends a message in registered memory. Waits while there is no space. The bytes must not be
   * changed before the id is complete.
   *
   * @param memory memory registered with any connection of the provider
   * @param offset the offset of the message in the memory, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessage()}
   * @return the message's id
   */
  default long sendRegistered(RegisteredMemory memory, long offset, int length) {
    return sendRegistered(MemorySegment.NULL, memory, offset, length);
  }

  /**
   * Sends a message in registered memory, and waits for the timeout at most.
   *
   * @param memory memory registered with any connection of the provider
   * @param offset the offset of the message in the memory, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessage()}
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the message's id
   */
  default long sendRegistered(RegisteredMemory memory, long offset, int length, Duration timeout) {
    return sendRegistered(MemorySegment.NULL, memory, offset, length, timeout);
  }

  /**
   * Sends a message in registered memory, if there is space.
   *
   * @param memory memory registered with any connection of the provider
   * @param offset the offset of the message in the memory, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessage()}
   * @return the message's id; 0 if there is no space
   */
  default long trySendRegistered(RegisteredMemory memory, long offset, int length) {
    return trySendRegistered(MemorySegment.NULL, memory, offset, length);
  }

  /**
   * Sends a header and bytes in registered memory as one message. Waits while there is no space.
   * The payload must not be changed before the id is complete.
   *
   * {@snippet lang=java :
   * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-gather"))) {
   *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
   *   try (Connection server = listener.accept();
   *       Connection client = connecting.join();
   *       RegisteredMemory prices = client.register(Arena.ofAuto().allocate(1 << 20))) {
   *     MemorySegment header = MemorySegment.ofArray(new long[] {42});
   *     long id = client.sender().sendRegistered(header, prices, 4096, 8000);
   *     client.sender().await(id); // these prices may be changed from now on
   *     try (ReceiveRegion message = server.receiver().receive()) {
   *       System.out.println(message.length()); // 8008
   *     }
   *   }
   * }
   * }
   *
   * @param header the message's first bytes, on or off the heap, copied; may be empty
   * @param payload memory registered with any connection of the provider
   * @param offset the offset of the payload in the memory, in bytes
   * @param length the payload's length; with the header's at most {@link #maxMessage()}
   * @return the message's id
   */
  long sendRegistered(MemorySegment header, RegisteredMemory payload, long offset, int length);

  /**
   * Sends a header and bytes in registered memory as one message, and waits for the timeout at
   * most.
   *
   * @param header the message's first bytes, on or off the heap, copied; may be empty
   * @param payload memory registered with any connection of the provider
   * @param offset the offset of the payload in the memory, in bytes
   * @param length the payload's length; with the header's at most {@link #maxMessage()}
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the message's id
   */
  long sendRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length, Duration timeout);

  /**
   * Sends a header and bytes in registered memory as one message, if there is space.
   *
   * @param header the message's first bytes, on or off the heap, copied; may be empty
   * @param payload memory registered with any connection of the provider
   * @param offset the offset of the payload in the memory, in bytes
   * @param length the payload's length; with the header's at most {@link #maxMessage()}
   * @return the message's id; 0 if there is no space
   */
  long trySendRegistered(MemorySegment header, RegisteredMemory payload, long offset, int length);

  /**
   * Stages a copy of a message. Waits while there is no space.
   *
   * @param message the bytes, on or off the heap; at most {@link #maxMessage()}
   * @return the message's id
   */
  default long stage(MemorySegment message) {
    return stage(message, 0, message.byteSize());
  }

  /**
   * Stages a copy of a message, and waits for the timeout at most.
   *
   * @param message the bytes, on or off the heap; at most {@link #maxMessage()}
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the message's id
   */
  default long stage(MemorySegment message, Duration timeout) {
    return stage(message, 0, message.byteSize(), timeout);
  }

  /**
   * Stages a copy of a message, if there is space.
   *
   * @param message the bytes, on or off the heap; at most {@link #maxMessage()}
   * @return the message's id; 0 if there is no space
   */
  default long tryStage(MemorySegment message) {
    return tryStage(message, 0, message.byteSize());
  }

  /**
   * Stages a copy of a part of a segment. Waits while there is no space.
   *
   * @param source the segment that contains the message, on or off the heap
   * @param offset the offset of the message in the segment, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessage()}
   * @return the message's id
   */
  long stage(MemorySegment source, long offset, long length);

  /**
   * Stages a copy of a part of a segment, and waits for the timeout at most.
   *
   * @param source the segment that contains the message, on or off the heap
   * @param offset the offset of the message in the segment, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessage()}
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the message's id
   */
  long stage(MemorySegment source, long offset, long length, Duration timeout);

  /**
   * Stages a copy of a part of a segment, if there is space.
   *
   * @param source the segment that contains the message, on or off the heap
   * @param offset the offset of the message in the segment, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessage()}
   * @return the message's id; 0 if there is no space
   */
  long tryStage(MemorySegment source, long offset, long length);

  /**
   * Stages a message in registered memory. Waits while there is no space. The bytes must not be
   * changed before the id is complete.
   *
   * @param memory memory registered with any connection of the provider
   * @param offset the offset of the message in the memory, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessage()}
   * @return the message's id
   */
  default long stageRegistered(RegisteredMemory memory, long offset, int length) {
    return stageRegistered(MemorySegment.NULL, memory, offset, length);
  }

  /**
   * Stages a message in registered memory, and waits for the timeout at most.
   *
   * @param memory memory registered with any connection of the provider
   * @param offset the offset of the message in the memory, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessage()}
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the message's id
   */
  default long stageRegistered(RegisteredMemory memory, long offset, int length, Duration timeout) {
    return stageRegistered(MemorySegment.NULL, memory, offset, length, timeout);
  }

  /**
   * Stages a message in registered memory, if there is space.
   *
   * @param memory memory registered with any connection of the provider
   * @param offset the offset of the message in the memory, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessage()}
   * @return the message's id; 0 if there is no space
   */
  default long tryStageRegistered(RegisteredMemory memory, long offset, int length) {
    return tryStageRegistered(MemorySegment.NULL, memory, offset, length);
  }

  /**
   * Stages a header and bytes in registered memory as one message. Waits while there is no space.
   *
   * @param header the message's first bytes, on or off the heap, copied; may be empty
   * @param payload memory registered with any connection of the provider
   * @param offset the offset of the payload in the memory, in bytes
   * @param length the payload's length; with the header's at most {@link #maxMessage()}
   * @return the message's id
   */
  long stageRegistered(MemorySegment header, RegisteredMemory payload, long offset, int length);

  /**
   * Stages a header and bytes in registered memory as one message, and waits for the timeout at
   * most.
   *
   * @param header the message's first bytes, on or off the heap, copied; may be empty
   * @param payload memory registered with any connection of the provider
   * @param offset the offset of the payload in the memory, in bytes
   * @param length the payload's length; with the header's at most {@link #maxMessage()}
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the message's id
   */
  long stageRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length, Duration timeout);

  /**
   * Stages a header and bytes in registered memory as one message, if there is space.
   *
   * @param header the message's first bytes, on or off the heap, copied; may be empty
   * @param payload memory registered with any connection of the provider
   * @param offset the offset of the payload in the memory, in bytes
   * @param length the payload's length; with the header's at most {@link #maxMessage()}
   * @return the message's id; 0 if there is no space
   */
  long tryStageRegistered(MemorySegment header, RegisteredMemory payload, long offset, int length);

  /** {@return the number of messages staged since the last flush} */
  int staged();

  /**
   * Sends all staged messages. Does not wait. Does nothing if there are none, even when the
   * connection is closed.
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
   * IllegalStateException}, not {@link ConnectionClosedException}. Does not wait. Closing a closed
   * Sender does nothing.
   *
   * <p>When all senders of the connection are closed, {@link Connection#sender()} and those of
   * {@link Connection#newSender}, the peer is notified that no further message follows
   * (half-close): it receives the messages that were sent, and then {@link EndOfStreamException}.
   * The connection remains open: the peer can send, this side can receive, and both must close it.
   */
  @Override
  void close();
}
