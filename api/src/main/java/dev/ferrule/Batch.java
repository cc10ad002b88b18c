// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

/**
 * Messages that are handed to the transport together, which costs less than one by one: one
 * doorbell over RDMA, one check for a sleeping peer over shared memory. Belongs to a {@link Sender}
 * and is used by its thread.
 *
 * {@snippet lang=java :
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-batch"))) {
 *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
 *   try (Connection server = listener.accept();
 *       Connection client = connecting.join()) {
 *     Sender sender = client.sender();
 *     try (Batch batch = sender.batch()) {
 *       for (int i = 0; i < 8; i++) {
 *         SendRegion region = sender.claim(4);
 *         region.segment().set(ValueLayout.JAVA_INT_UNALIGNED, 0, i);
 *         batch.add(region);
 *       }
 *     } // all eight leave here
 *     System.out.println(server.receiver().poll((buffer, offset, length) -> {}, 100)); // 8
 *   }
 * }
 * }
 *
 * <p>A batch keeps the order: {@code Sender.sendAsync} and {@code Sender.send} flush what was added
 * before they send. A batch may be as large as the connection's room for messages; {@code claim}
 * flushes it when that room runs out and it has to wait, so that a batch never blocks itself.
 *
 * <p>Where several threads may use a Sender (in {@code sm} by {@code concurrentSenders=on}), what
 * is added leaves at once: the size stays 0, and there is nothing to flush.
 *
 * <p>What was added and not flushed when the connection is closed is not sent.
 */
public interface Batch extends AutoCloseable {

  /**
   * Adds a claimed region, whole.
   *
   * @param region a region that the Sender lent out
   * @return the message's id, not complete before the batch is flushed
   * @throws IllegalStateException if the region is not claimed
   * @throws IllegalArgumentException if the region is another connection's
   * @throws ConnectionClosedException if the connection is closed, by either side
   * @throws PeerLostException if the peer died
   */
  long add(SendRegion region);

  /**
   * Adds the first bytes of a claimed region.
   *
   * @param region a region that the Sender lent out
   * @param length how many bytes of it to send; 0 to the region's length
   * @return the message's id, not complete before the batch is flushed
   * @throws IllegalStateException if the region is not claimed
   * @throws IllegalArgumentException if the region is another connection's, or the length out of
   *     range
   * @throws ConnectionClosedException if the connection is closed, by either side
   * @throws PeerLostException if the peer died
   */
  long add(SendRegion region, int length);

  /**
   * Returns how many messages were added since the last flush.
   *
   * @return the number of messages
   */
  int size();

  /**
   * Sends what was added. Does nothing when nothing was.
   *
   * @throws ConnectionClosedException if something was added and the connection is closed, by
   *     either side
   * @throws PeerLostException if something was added and the peer died
   */
  void flush();

  /** Flushes; the batch can be used again afterwards. */
  @Override
  default void close() {
    flush();
  }
}
