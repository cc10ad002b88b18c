// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;

/**
 * A batch of messages, handed to the transport together. This costs less than sending them one by
 * one: one doorbell over RDMA, one check for a sleeping peer over shared memory. A batch belongs to
 * a {@link Sender} and is used by the Sender's thread.
 *
 * <p>{@link #add(MemorySegment)} copies a message, as {@link Sender#send(MemorySegment)} does, and
 * is the faster way for short messages. {@link #add(SendRegion)} adds a claimed region without a
 * copy. One batch may contain both.
 *
 * {@snippet lang=java :
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-batch"))) {
 *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
 *   try (Connection server = listener.accept();
 *       Connection client = connecting.join()) {
 *     Sender sender = client.sender();
 *     MemorySegment message = MemorySegment.ofArray(new int[1]);
 *     try (Batch batch = sender.batch()) {
 *       for (int i = 0; i < 7; i++) {
 *         message.set(ValueLayout.JAVA_INT, 0, i);
 *         batch.add(message); // copied
 *       }
 *       SendRegion region = sender.claim(4);
 *       region.segment().set(ValueLayout.JAVA_INT_UNALIGNED, 0, 7);
 *       batch.add(region); // written in place
 *     } // all eight are sent here
 *     System.out.println(server.receiver().poll((buffer, offset, length) -> {}, 100)); // 8
 *   }
 * }
 * }
 *
 * <p>A batch preserves order: {@code Sender.sendAsync} and {@code Sender.send} flush it before they
 * send. A batch may be as large as the connection's buffer space. When that space runs out, {@code
 * claim} and {@code add} of a copy flush the batch before they wait, and {@code tryClaim} before it
 * returns null, so a batch never blocks itself.
 *
 * <p>If several threads may use the Sender ({@code concurrentSenders=on} in {@code sm}), {@code
 * add} sends at once: the size stays 0 and {@code flush} does nothing.
 *
 * <p><b>Errors:</b> those of {@link Sender}, whose methods {@code add} corresponds to. Flushing an
 * empty batch throws nothing.
 *
 * <p>Messages that are not flushed when the connection is closed are not sent.
 */
public interface Batch extends AutoCloseable {

  /**
   * Adds a claimed region in full.
   *
   * @param region a region claimed from the Sender
   * @return the message's id, not complete before the batch is flushed
   * @throws IllegalStateException if the region is not claimed
   * @throws IllegalArgumentException if the region belongs to another connection
   */
  long add(SendRegion region);

  /**
   * Adds the first bytes of a claimed region.
   *
   * @param region a region claimed from the Sender
   * @param length the number of bytes to send; 0 to the region's length
   * @return the message's id, not complete before the batch is flushed
   * @throws IllegalStateException if the region is not claimed
   * @throws IllegalArgumentException if the region belongs to another connection, or the length is
   *     out of range
   */
  long add(SendRegion region, int length);

  /**
   * Adds a copy of a message. If there is no space for it, flushes the batch and waits. The segment
   * may be reused as soon as this method returns.
   *
   * @param message the bytes to send, on or off the heap; at most {@link Sender#maxMessageSize()}
   * @return the message's id, not complete before the batch is flushed
   */
  default long add(MemorySegment message) {
    return add(message, 0, message.byteSize());
  }

  /**
   * Adds a copy of a part of a segment. If there is no space for it, flushes the batch and waits.
   * The segment may be reused as soon as this method returns.
   *
   * @param source the segment that holds the message, on or off the heap
   * @param offset the offset of the message in the segment, in bytes
   * @param length the message's length in bytes; 0 to {@link Sender#maxMessageSize()}
   * @return the message's id, not complete before the batch is flushed
   */
  long add(MemorySegment source, long offset, long length);

  /** {@return the number of messages added since the last flush} */
  int size();

  /** Sends the messages in the batch. Does nothing if the batch is empty. */
  void flush();

  /** Flushes the batch, which remains usable. */
  @Override
  default void close() {
    flush();
  }
}
