// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.support.CommandHandshake;
import java.net.URI;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** A {@link BenchServer} in its own thread, for clients of the same process. */
record LocalServer(Listener listener, Thread thread) {

  /**
   * Starts a server.
   *
   * @param folder where it listens, in shared memory
   * @param single whether one receiver serves all clients
   * @param served replaces the listener
   * @param problems receives a line for each failure of a client
   */
  static LocalServer start(
      Path folder,
      ServerLimits limits,
      boolean single,
      UnaryOperator<Listener> served,
      Consumer<String> problems) {
    URI address = URI.create("sm://" + folder.resolve("app"));
    ConnectionOptions.Builder options =
        ConnectionOptions.builder().set(StandardOptions.WAIT, WaitStrategy.BLOCK);
    if (single) {
      options.set("singleReceiver", "on");
    }
    Listener listener = Ferrule.listen(address, options.build());
    BenchServer server =
        new BenchServer(served.apply(listener), WaitStrategy.BLOCK, Pinning.OFF, limits, problems);
    return new LocalServer(
        listener, Thread.ofPlatform().start(single ? server::runSingleReceiver : server::run));
  }

  /** Connects as the client of a benchmark. */
  Connection connect() {
    ConnectionOptions options =
        ConnectionOptions.builder().set(StandardOptions.WAIT, WaitStrategy.BLOCK).build();
    return CommandHandshake.BENCHMARK.connect(listener.uri(), options);
  }

  /** Stops the server, and waits for the end of its thread. */
  void stop() throws InterruptedException {
    listener.close();
    thread.join();
  }
}
