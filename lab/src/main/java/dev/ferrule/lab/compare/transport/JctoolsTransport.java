// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.function.Consumer;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.MpscArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * JCTools' queue for several producers, between threads of one process. A message is a new array
 * filled by its sender, whose reference is passed through the queue. Reusing arrays is slower:
 * their lines have to be transferred back from the receiver's cache.
 */
final class JctoolsTransport extends TransportUnderTest {

  private static final int CAPACITY = 4096; // about as many messages of 64 bytes as 256 KiB hold

  private static final String PROPERTIES =
      "/META-INF/maven/org.jctools/jctools-core/pom.properties";

  private @Nullable Queues queues;

  JctoolsTransport() {
    super(
        "jctools",
        "JCTools %s, MpscArrayQueue of %s references to new arrays, offer, drain, within one process"
            .formatted(libraryVersion(), CAPACITY),
        Set.of(Mode.SEVERAL_SENDERS)); // for several producers; it cannot block a receiver
  }

  /** Reads the version from the properties: the manifest has none that a package could report. */
  private static String libraryVersion() {
    Properties properties = new Properties();
    try (InputStream in = MpscArrayQueue.class.getResourceAsStream(PROPERTIES)) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("version", "of unknown version");
  }

  @Override
  public boolean isWithinProcess() {
    return true;
  }

  @Override
  public Listening listen(Mode mode, Path directory, @Nullable Consumer<byte[]> witness) {
    Queues both = new Queues(new MpscArrayQueue<>(CAPACITY), new MpscArrayQueue<>(CAPACITY));
    queues = both;
    return new InDirectory(
        directory, () -> new End(mode, both.toServer(), both.toClient(), witness));
  }

  @Override
  public Transport connect(Mode mode, String address, @Nullable Consumer<byte[]> witness) {
    Queues both = Objects.requireNonNull(queues, "not listening");
    return new End(mode, both.toClient(), both.toServer(), witness);
  }

  private record Queues(MpscArrayQueue<byte[]> toServer, MpscArrayQueue<byte[]> toClient) {}

  private static final class End extends AbstractTransport
      implements MessagePassingQueue.Consumer<byte[]> {

    private final MpscArrayQueue<byte[]> incoming;

    End(
        Mode mode,
        MpscArrayQueue<byte[]> incoming,
        MpscArrayQueue<byte[]> outgoing,
        @Nullable Consumer<byte[]> witness) {
      super(mode, witness, () -> new FreshArrays(outgoing));
      this.incoming = incoming;
    }

    @Override
    public int poll(int limit) {
      return incoming.drain(this, limit);
    }

    @Override
    public void accept(byte[] message) {
      received((long) FreshArrays.LONG.get(message, 0));
      if (witness != null) {
        witness.accept(message.clone());
      }
    }

    @Override
    public void close() {
      // the collector frees the queues
    }
  }

  private static final class FreshArrays implements MessageSender {

    static final VarHandle LONG =
        MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final MpscArrayQueue<byte[]> queue;
    private final byte[] payload = Payload.bytes(0, Transport.LONGEST);

    FreshArrays(MpscArrayQueue<byte[]> queue) {
      this.queue = queue;
    }

    @Override
    public boolean trySend(long value, int length) {
      byte[] message = new byte[length];
      LONG.set(message, 0, value);
      System.arraycopy(payload, Long.BYTES, message, Long.BYTES, length - Long.BYTES);
      return queue.offer(message);
    }
  }
}
