// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of a {@link Connection}.
 *
 * <p>The zero-copy way is claim, write, send: {@link #claim} lends a region of memory that the
 * transport sends from, {@link #sendAsync(SendRegion)} hands it over and returns an id at once. The
 * short way is {@link #send(MemorySegment)}, which copies.
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
 *     sender.await(id); // the region's memory may be reused from here on
 *     try (ReceiveRegion message = server.receiver().receive()) {
 *       System.out.println(message.segment().getString(0)); // hello
 *     }
 *   }
 * }
 * }
 *
 * <p><b>Ids</b> start at 1 and grow by 1 per message. An id is complete when the message's memory
 * may be reused: when the message is published in shared memory, or acknowledged by the peer's
 * device over RDMA; not when the peer's program has read it. When the connection ends, ids that are
 * still outstanding fail.
 *
 * <p><b>Order:</b> messages arrive in the order of the sends, whatever the order of the claims was.
 * Several regions may be claimed at once; a claim reserves all that its send will need, so a send
 * never waits.
 *
 * <p><b>Back pressure:</b> when the peer does not keep up, {@link #tryClaim} returns null and
 * {@link #claim} waits by the connection's {@link WaitStrategy}. Neither loses or reorders
 * anything.
 *
 * <p><b>Threads:</b> one thread at a time may use a Sender; it need not be the thread that uses the
 * {@link Receiver}. Only {@link Connection#close()} may come from another thread: it makes a
 * blocked call end with a {@link ConnectionClosedException}. A provider may have an option by which
 * several threads may use a Sender at the same time, as {@code sm} has {@code
 * concurrentSenders=on}: then each thread's messages keep their order, a region may be sent or
 * aborted by any thread, and all blocked calls end at a close. Two threads that use a Sender at the
 * same time without that option lose messages and corrupt memory of the connection. With assertions
 * ({@code -ea}) or the system property {@code ferrule.checkThreads=true} the second of them gets an
 * {@link IllegalStateException} that names both threads; otherwise nothing is checked, so that it
 * costs nothing.
 */
public interface Sender {

  /**
   * Returns the longest message that can be sent on this connection, which is what the peer takes.
   *
   * @return the limit in bytes
   */
  int maxMessageSize();

  /**
   * Claims room for a message, waiting while there is none.
   *
   * @param length the message's length in bytes; 0 to {@link #maxMessageSize()}
   * @return the region, to be sent or aborted
   * @throws MessageTooLongException if the length exceeds {@link #maxMessageSize()}
   * @throws IllegalArgumentException if the length is negative
   * @throws ConnectionClosedException if the connection is closed, by either side
   * @throws PeerLostException if the peer died
   * @throws OperationInterruptedException if the thread was interrupted while blocked
   * @throws IllegalStateException if this program has claimed all the room that there is, so that
   *     waiting would never end
   */
  SendRegion claim(int length);

  /**
   * Claims room for a message, waiting while there is none but not longer than the timeout.
   *
   * @param length the message's length in bytes; 0 to {@link #maxMessageSize()}
   * @param timeout how long to wait at most; zero or less does not wait
   * @return the region, to be sent or aborted
   * @throws OperationTimeoutException if there was no room in time
   * @throws MessageTooLongException if the length exceeds {@link #maxMessageSize()}
   * @throws IllegalArgumentException if the length is negative
   * @throws ConnectionClosedException if the connection is closed, by either side
   * @throws PeerLostException if the peer died
   * @throws OperationInterruptedException if the thread was interrupted while blocked
   * @throws IllegalStateException if this program has claimed all the room that there is, so that
   *     waiting would never end
   */
  SendRegion claim(int length, Duration timeout);

  /**
   * Claims room for a message if there is some. Does not wait, allocate or make a system call.
   *
   * @param length the message's length in bytes; 0 to {@link #maxMessageSize()}
   * @return the region, to be sent or aborted; or null if there is no room now (back pressure)
   * @throws MessageTooLongException if the length exceeds {@link #maxMessageSize()}
   * @throws IllegalArgumentException if the length is negative
   * @throws ConnectionClosedException if the connection is closed, by either side
   * @throws PeerLostException if the peer died
   */
  @Nullable SendRegion tryClaim(int length);

  /**
   * Sends a claimed region whole. Does not wait.
   *
   * @param region a region that this Sender lent out
   * @return the message's id
   * @throws IllegalStateException if the region is not claimed (sent or aborted already)
   * @throws IllegalArgumentException if the region is another connection's
   * @throws ConnectionClosedException if the connection is closed, by either side
   * @throws PeerLostException if the peer died
   */
  long sendAsync(SendRegion region);

  /**
   * Sends the first bytes of a claimed region. Does not wait.
   *
   * @param region a region that this Sender lent out
   * @param length how many bytes of it to send; 0 to the region's length
   * @return the message's id
   * @throws IllegalStateException if the region is not claimed (sent or aborted already)
   * @throws IllegalArgumentException if the region is another connection's, or the length out of
   *     range
   * @throws ConnectionClosedException if the connection is closed, by either side
   * @throws PeerLostException if the peer died
   */
  long sendAsync(SendRegion region, int length);

  /**
   * Sends from memory that was registered with the connection, without a copy where the transport
   * can. The bytes must not be changed before the id is complete. Waits while there is no room for
   * the message.
   *
   * @param memory memory registered by {@link Connection#register}
   * @param offset where in it the message starts, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessageSize()}
   * @return the message's id
   * @throws MessageTooLongException if the length exceeds {@link #maxMessageSize()}
   * @throws IllegalArgumentException if the memory was registered with another connection
   * @throws IndexOutOfBoundsException if offset and length do not lie in the memory
   * @throws IllegalStateException if the registration is closed, or its memory has been freed
   * @throws ConnectionClosedException if the connection is closed, by either side
   * @throws PeerLostException if the peer died
   * @throws OperationInterruptedException if the thread was interrupted while blocked
   * @throws IllegalStateException if this program has claimed all the room that there is, so that
   *     waiting would never end
   */
  long sendAsync(RegisteredMemory memory, long offset, int length);

  /**
   * Sends a copy of a message, waiting while there is no room for it. The segment may be reused as
   * soon as this returns.
   *
   * @param message the bytes to send, on or off the heap; at most {@link #maxMessageSize()}
   * @return the message's id
   * @throws MessageTooLongException if the message exceeds {@link #maxMessageSize()}
   * @throws ConnectionClosedException if the connection is closed, by either side
   * @throws PeerLostException if the peer died
   * @throws OperationInterruptedException if the thread was interrupted while blocked
   * @throws IllegalStateException if this program has claimed all the room that there is, so that
   *     waiting would never end
   */
  default long send(MemorySegment message) {
    return send(message, 0, message.byteSize());
  }

  /**
   * Sends a copy of a part of a segment, waiting while there is no room for it. The segment may be
   * reused as soon as this returns.
   *
   * @param source the segment that holds the message, on or off the heap
   * @param offset where in it the message starts, in bytes
   * @param length the message's length in bytes; 0 to {@link #maxMessageSize()}
   * @return the message's id
   * @throws MessageTooLongException if the length exceeds {@link #maxMessageSize()}
   * @throws IndexOutOfBoundsException if offset and length do not lie in the segment
   * @throws ConnectionClosedException if the connection is closed, by either side
   * @throws PeerLostException if the peer died
   * @throws OperationInterruptedException if the thread was interrupted while blocked
   * @throws IllegalStateException if this program has claimed all the room that there is, so that
   *     waiting would never end
   */
  long send(MemorySegment source, long offset, long length);

  /**
   * Returns this Sender's batch, in which messages are gathered and then handed to the transport
   * together. There is one per Sender, reused, so this allocates nothing.
   *
   * @return the batch
   */
  Batch batch();

  /**
   * Tells whether a message's memory may be reused.
   *
   * @param id an id that this Sender returned
   * @return whether the message is complete
   * @throws IllegalArgumentException if this Sender never returned the id
   */
  boolean isComplete(long id);

  /**
   * Waits until a message's memory may be reused, and with it that of every earlier one. A message
   * that waits in an open batch is flushed first.
   *
   * @param id an id that this Sender returned
   * @throws IllegalArgumentException if this Sender never returned the id
   * @throws ConnectionClosedException if the connection was closed before the message was complete
   * @throws PeerLostException if the peer died before the message was complete
   * @throws OperationInterruptedException if the thread was interrupted while blocked
   */
  void await(long id);

  /**
   * Waits until a message's memory may be reused, but not longer than the timeout.
   *
   * @param id an id that this Sender returned
   * @param timeout how long to wait at most; zero or less does not wait
   * @throws OperationTimeoutException if the message was not complete in time
   * @throws IllegalArgumentException if this Sender never returned the id
   * @throws ConnectionClosedException if the connection was closed before the message was complete
   * @throws PeerLostException if the peer died before the message was complete
   * @throws OperationInterruptedException if the thread was interrupted while blocked
   */
  void await(long id, Duration timeout);
}
