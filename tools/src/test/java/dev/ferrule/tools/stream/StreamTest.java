// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StreamTest {

  @TempDir Path folder = Path.of("");

  @Test
  void shouldWaitForAnEmptyInputInsteadOfEndingTheStream() throws Exception {
    byte[] original = new byte[100_000];
    new Random(1).nextBytes(original);
    ReadableByteChannel whole = Channels.newChannel(new ByteArrayInputStream(original));
    HesitantChannel input = new HesitantChannel(whole, null);

    assertThat(transfer(input, Channels.newChannel(new ByteArrayOutputStream())))
        .isEqualTo(100_000);
  }

  @Test
  void shouldWaitForAFullOutput() throws Exception {
    byte[] original = new byte[100_000];
    new Random(2).nextBytes(original);
    ByteArrayOutputStream copy = new ByteArrayOutputStream();
    HesitantChannel output = new HesitantChannel(null, Channels.newChannel(copy));

    transfer(Channels.newChannel(new ByteArrayInputStream(original)), output);

    assertThat(copy.toByteArray()).isEqualTo(original);
  }

  private long transfer(ReadableByteChannel input, WritableByteChannel output) throws Exception {
    try (Listener listener = Ferrule.listen(URI.create("sm://" + folder.resolve("app")))) {
      CompletableFuture<Long> sending =
          CompletableFuture.supplyAsync(
              () -> {
                try (Connection connection = Ferrule.connect(listener.uri())) {
                  return new StreamSender(connection, bytes -> {}).send(input);
                }
              },
              task -> Thread.ofPlatform().start(task));
      try (Connection connection = listener.accept()) {
        long received = new StreamReceiver(connection).receive(output);
        assertThat(sending.get()).isEqualTo(received);
        return received;
      }
    }
  }

  /**
   * A non-blocking channel of which every second call transfers nothing, and the others a little.
   */
  private static final class HesitantChannel implements ReadableByteChannel, WritableByteChannel {

    private static final int LITTLE = 5_000;

    private final ReadableByteChannel source;
    private final WritableByteChannel sink;
    private int calls;

    HesitantChannel(ReadableByteChannel source, WritableByteChannel sink) {
      this.source = source;
      this.sink = sink;
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
      return calls++ % 2 == 0 ? 0 : source.read(little(into));
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
      if (calls++ % 2 == 0) {
        return 0;
      }
      int limit = from.limit();
      from.limit(Math.min(limit, from.position() + LITTLE));
      int written = sink.write(from);
      from.limit(limit);
      return written;
    }

    private static ByteBuffer little(ByteBuffer whole) {
      return whole.limit(Math.min(whole.limit(), whole.position() + LITTLE));
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {
      // nothing to close
    }
  }
}
