// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;

/**
 * A received message, lent to the program until it is freed by {@link Receiver#free} or {@link
 * #close()}. The object is reused for a later message after that, so no reference to it may be
 * kept.
 *
 * {@snippet lang=java :
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-region"))) {
 *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
 *   try (Connection server = listener.accept();
 *       Connection client = connecting.join()) {
 *     client.sender().send(MemorySegment.ofArray(new byte[] {1, 2, 3}));
 *     try (ReceiveRegion message = server.receiver().receive()) { // freed at the end of the block
 *       System.out.println(message.segment().get(ValueLayout.JAVA_BYTE, 2)); // 3
 *     }
 *   }
 * }
 * }
 *
 * <p><b>Memory safety:</b> the segments are bounded, and live as long as the connection: access
 * after the connection was closed is an {@link IllegalStateException}. Access to a segment that was
 * obtained before the region was freed reads whatever message lies there now.
 *
 * <p><b>Threads:</b> the bytes may be read by any thread; freeing is the Receiver's thread's.
 */
public interface ReceiveRegion extends AutoCloseable {

  /**
   * Returns the message: a read-only segment of exactly its length. Where the JIT compiler cannot
   * remove it this allocates a small object; {@link #buffer()}, {@link #offset()} and {@link
   * #length()} never do.
   *
   * @return the message's bytes
   * @throws IllegalStateException if the region is not lent out
   */
  MemorySegment segment();

  /**
   * Returns the memory that the message lies in, together with others.
   *
   * @return a segment that holds the message at {@link #offset()}
   * @throws IllegalStateException if the region is not lent out
   */
  MemorySegment buffer();

  /**
   * Returns where in {@link #buffer()} the message starts.
   *
   * @return the offset in bytes
   */
  long offset();

  /**
   * Returns the message's length.
   *
   * @return the length in bytes; may be 0
   */
  int length();

  /**
   * Returns the connection that the message came over.
   *
   * @return the connection
   */
  Connection connection();

  /**
   * Frees the region, like {@link Receiver#free}.
   *
   * @throws IllegalStateException if the region is not lent out (freed twice)
   */
  @Override
  void close();
}
