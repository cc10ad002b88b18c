// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;

/**
 * Memory of the program's own that a connection may send from, and copy from and to by {@link Rma};
 * see {@link Connection#register}. Over RDMA the device reads it directly, so it is pinned until
 * this is closed.
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

  /**
   * Returns the registered memory.
   *
   * @return the segment that was registered
   */
  MemorySegment segment();

  /**
   * Ends the registration. Closing it twice does nothing; sends and accesses that are under way
   * finish first.
   */
  @Override
  void close();
}
