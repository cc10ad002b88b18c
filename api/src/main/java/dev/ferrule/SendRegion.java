// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;

/**
 * Room for one outgoing message in memory that the transport can send from without a copy, claimed
 * by {@link Sender#claim} until it is sent by {@link Sender#sendAsync(SendRegion)} or given back by
 * {@link #abort()}. Its bytes are undefined at first. The object is reused after that, so no
 * reference to it may be kept.
 *
 * {@snippet lang=java :
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-claim"))) {
 *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
 *   try (Connection server = listener.accept();
 *       Connection client = connecting.join()) {
 *     Sender sender = client.sender();
 *     SendRegion region = sender.claim(8);
 *     region.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, 42L);
 *     long id = sender.sendAsync(region);
 *     sender.await(id);
 *     try (ReceiveRegion message = server.receiver().receive()) {
 *       System.out.println(message.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 0)); // 42
 *     }
 *   }
 * }
 * }
 *
 * <p><b>Threads:</b> the bytes may be written by any thread, before the Sender's thread sends the
 * region.
 */
public interface SendRegion {

  /**
   * Returns the claimed memory: a segment of exactly the claimed length. Where the JIT compiler
   * cannot remove it this allocates a small object; {@link #buffer()}, {@link #offset()} and {@link
   * #length()} never do.
   *
   * @return the memory to write the message to
   * @throws IllegalStateException if the region is not claimed
   */
  MemorySegment segment();

  /**
   * Returns the memory that the region lies in, together with others; only the bytes of the region
   * may be written.
   *
   * @return a segment that holds the region at {@link #offset()}
   * @throws IllegalStateException if the region is not claimed
   */
  MemorySegment buffer();

  /**
   * Returns where in {@link #buffer()} the region starts.
   *
   * @return the offset in bytes
   */
  long offset();

  /**
   * Returns how much was claimed.
   *
   * @return the length in bytes; may be 0
   */
  int length();

  /**
   * Gives the region back unsent. To be called by the Sender's thread. Aborting after the
   * connection was closed is allowed and does nothing.
   *
   * @throws IllegalStateException if the region is not claimed (sent or aborted already)
   */
  void abort();
}
