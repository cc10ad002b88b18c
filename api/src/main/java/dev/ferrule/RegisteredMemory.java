// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;

/**
 * Memory of the program that a connection can send from, and that {@link Rma} can read into and
 * write from; see {@link Connection#register}. Over RDMA the device accesses it directly, so it is
 * pinned until this object is closed.
 *
 * {@snippet lang=java :
 * try (Arena arena = Arena.ofShared();
 *     Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-registered"))) {
 *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
 *   try (Connection server = listener.accept();
 *       Connection client = connecting.join();
 *       RegisteredMemory memory = client.register(arena.allocate(4096))) {
 *     memory.segment().setString(100, "from my own memory");
 *     client.sender().await(client.sender().sendAsync(memory, 100, 19));
 *     try (ReceiveRegion message = server.receiver().receive()) {
 *       System.out.println(message.segment().getString(0)); // from my own memory
 *     }
 *   }
 * }
 * }
 */
public interface RegisteredMemory extends AutoCloseable {

  /** {@return the registered memory} */
  MemorySegment segment();

  /**
   * Ends the registration, after sends and accesses in progress have finished. Closing it twice
   * does nothing.
   */
  @Override
  void close();
}
