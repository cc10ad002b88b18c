// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;

/**
 * Handles the messages of {@link Receiver#poll} in place, without an object per message. Runs in
 * the thread that polls.
 *
 * {@snippet lang=java :
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-handler"))) {
 *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
 *   try (Connection server = listener.accept();
 *       Connection client = connecting.join()) {
 *     client.sender().send(MemorySegment.ofArray(new long[] {42}));
 *     MessageHandler print =
 *         (buffer, offset, length) ->
 *             System.out.println(buffer.get(ValueLayout.JAVA_LONG, offset)); // 42
 *     server.receiver().poll(print, 64, Duration.ofSeconds(5)); // up to 64 messages
 *   }
 * }
 * }
 */
@FunctionalInterface
public interface MessageHandler {

  /**
   * Handles one message: the {@code length} bytes of the buffer from {@code offset}, of which the
   * first is aligned to 8 bytes, see {@link Connection}. They are valid only until this method
   * returns, and must not be written to. An exception thrown by this method propagates through
   * {@code poll}; the message counts as received and is freed.
   *
   * @param buffer the connection's memory that contains the message
   * @param offset the offset of the message in {@code buffer}, in bytes
   * @param length the length of the message in bytes; may be 0
   */
  void onMessage(MemorySegment buffer, long offset, int length);
}
