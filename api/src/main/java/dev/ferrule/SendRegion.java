// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;

/**
 * Memory for one outgoing message, from which the transport sends without a copy. {@link
 * Sender#claim} returns it, where there is an example. Until it is committed, staged or aborted, it
 * occupies buffer space. Its initial content is undefined.
 *
 * <p>Later claims reuse the object. So commit, stage or abort a region last in its {@code try}
 * block, and keep no reference to it.
 *
 * <p><b>Threads:</b> any thread may write the bytes before the Sender's thread commits the region;
 * only that thread may commit, stage, abort or close it.
 */
public interface SendRegion extends AutoCloseable {

  /**
   * Returns the claimed memory as a segment of exactly the claimed length, aligned to 8 bytes.
   * Allocates a small object unless the JIT compiler eliminates it; {@link #buffer()}, {@link
   * #offset()} and {@link #length()} never allocate.
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
   * Sends the whole region. Does not wait.
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
   * Sends the first bytes of the region. Does not wait. Otherwise like {@link #commit()}.
   *
   * @param length the number of bytes to send; 0 to the region's length
   * @return the message's id, see {@link Sender}
   * @throws IllegalArgumentException if the length is out of range; the region remains claimed
   */
  long commit(int length);

  /**
   * Stages the whole region, which {@link Sender#flush} sends. Otherwise like {@link #commit()}.
   *
   * @return the message's id, not complete before the next flush
   */
  default long stage() {
    return stage(length());
  }

  /**
   * Stages the first bytes of the region. Otherwise like {@link #commit()}.
   *
   * @param length the number of bytes to send; 0 to the region's length
   * @return the message's id, not complete before the next flush
   * @throws IllegalArgumentException if the length is out of range; the region remains claimed
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
