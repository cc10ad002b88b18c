// SPDX-License-Identifier: Apache-2.0
package consumer;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/** Sends itself a message and prints it. */
public final class Main {
  private Main() {}

  /**
   * Runs the program.
   *
   * @param args unused
   * @throws Exception if it fails
   */
  public static void main(String[] args) throws Exception {
    Path directory = Files.createTempDirectory("consumer");
    try (Listener listener = Ferrule.listen(URI.create("sm://" + directory))) {
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
      try (Connection server = listener.accept();
          Connection client = connecting.get()) {
        client
            .sender()
            .send(MemorySegment.ofArray("hello, ferrule".getBytes(StandardCharsets.UTF_8)));
        try (ReceiveRegion message = server.receiver().receive()) {
          byte[] bytes = message.segment().toArray(ValueLayout.JAVA_BYTE);
          System.out.printf(
              "received \"%s\" on the %s path%n",
              new String(bytes, StandardCharsets.UTF_8),
              Main.class.getModule().isNamed() ? "module" : "class");
        }
      }
    } finally {
      // Fails if the provider has left files in it.
      Files.delete(directory);
    }
  }
}
