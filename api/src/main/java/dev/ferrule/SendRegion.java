// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;

/**
 * A claimed piece of the send buffer, to which the program writes one message in place. {@link
 * Sender#claim} returns it. Its initial content is undefined.
 *
 * <table>
 * <caption>Ways to end a claim; none waits</caption>
 * <tr><th>call</th><th>the message</th></tr>
 * <tr><td>{@link #commit()}, {@link #commit(int)}</td>
 * <td>is sent, in full or its first bytes</td></tr>
 * <tr><td>{@link #stage()}, {@link #stage(int)}</td>
 * <td>is sent by the next {@link Sender#flush}, in full or its first bytes</td></tr>
 * <tr><td>{@link #abort()}, {@link #close()}</td>
 * <td>is not sent; the space is free again</td></tr>
 * </table>
 *
 * {@snippet lang=java :
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-region"))) {
 *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
 *   try (Connection server = listener.accept();
 *       Connection client = connecting.join()) {
 *     try (SendRegion region = client.sender().claim(64)) { // the longest that it may become
 *       region.segment().set(ValueLayout.JAVA_INT, 0, 42);
 *       region.commit(4);
 *     }
 *     try (ReceiveRegion message = server.receiver().receive()) {
 *       System.out.println(message.length()); // 4
 *     }
 *   }
 * }
 * }
 *
 * <p>Later claims reuse the object. So commit, stage or abort a region last in its {@code try}
 * block, and keep no reference to it. {@link Connection} states how the memory is aligned, and what
 * happens to it after the close.
 *
 * <p><b>Threads:</b> any thread may write the bytes before the Sender's thread commits the region;
 * only that thread may commit, stage, abort or close it.
 */
public interface SendRegion extends AutoCloseable {

  /**
   * Returns the claimed memory as a segment of exactly the claimed length. Allocates a small object
   * unless the JIT compiler eliminates it; {@link #buffer()}, {@link #offset()} and {@link
   * #length()} never allocate.
   *
   * @return the memory to write the message to
   * @throws IllegalStateException if the region is not claimed
   */
  MemorySegment segment();

  /**
   * {@return the memory that contains this region, at {@link #offset()}, and others} Only the bytes
   * of this region may be written.
   *
   * @throws IllegalStateException if the region is not claimed
   */
  MemorySegment buffer();

  /** {@return the offset of the region in {@link #buffer()}, in bytes} */
  long offset();

  /** {@return the claimed length in bytes; may be 0} */
  int length();

  /**
   * Sends the whole region.
   *
   * @return the message's id, see {@link Sender}
   * @throws ConnectionClosedException if the connection is closed
   * @throws PeerLostException if the peer died
   * @throws IllegalStateException if the region is not claimed, as it was committed, staged or
   *     aborted before
   */
  default long commit() {
    return commit(length());
  }

  /**
   * Sends the first bytes of the region. Otherwise like {@link #commit()}.
   *
   * @param length the number of bytes to send; 0 to the region's length
   * @return the message's id, see {@link Sender}
   * @throws IllegalArgumentException if the length is out of range; the region remains claimed
   */
  long commit(int length);

  /**
   * Stages the whole region, which {@link Sender#flush} sends. Otherwise like {@link #commit()}.
   *
   * @return the message's id
   */
  default long stage() {
    return stage(length());
  }

  /**
   * Stages the first bytes of the region. Otherwise like {@link #commit(int)}.
   *
   * @param length the number of bytes to send; 0 to the region's length
   * @return the message's id
   */
  long stage(int length);

  /**
   * Releases the region without sending it. Does nothing after the connection was closed.
   *
   * @throws IllegalStateException if the region is not claimed
   */
  void abort();

  /**
   * Aborts the region if it is still claimed: an exception between claim and commit leaks nothing.
   */
  @Override
  void close();
}
