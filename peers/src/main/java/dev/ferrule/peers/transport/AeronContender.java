// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.transport;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Image;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.SleepingIdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Aeron over shared memory: an exclusive publication for each way, and a media driver in the
 * server's process; connections of one process share a client. The driver has no part in a message,
 * but moves the limit up to which a publication may write; so it looks in every 0.1 ms, which costs
 * the spinning threads little, and the terms are long enough for what is sent meanwhile.
 */
final class AeronContender implements Contender {

  private static final String CHANNEL = "aeron:ipc";
  private static final int STREAMS_OF_CONNECTION = 2; // the first to the server, the other back
  private static final String DIRECTORY = "aeron";
  private static final int TERM_BYTES = 16 << 20;
  private static final int MTU_BYTES = 2 * Transport.LONGEST;
  private static final int TERM_BYTES_OF_MANY = 64 << 10;
  private static final int MTU_BYTES_OF_MANY = 8 << 10;
  private static final long DRIVER_IDLE_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final boolean many;
  private final AtomicInteger accepted = new AtomicInteger();
  private final AtomicInteger connected = new AtomicInteger();

  /**
   * Creates one.
   *
   * @param many whether there will be many connections, with as much memory each as those of others
   */
  AeronContender(boolean many) {
    this.many = many;
  }

  @Override
  public String name() {
    return "aeron";
  }

  @Override
  public String version() {
    return "Aeron "
        + Aeron.class.getPackage().getImplementationVersion()
        + " IPC, ExclusivePublication with tryClaim, terms of "
        + ((many ? TERM_BYTES_OF_MANY : TERM_BYTES) >> 10)
        + " KiB";
  }

  @Override
  public Listening listen(Path directory, @Nullable Consumer<byte[]> witness) {
    Path files = directory.resolve(DIRECTORY);
    MediaDriver driver =
        MediaDriver.launch(
            new MediaDriver.Context()
                .aeronDirectoryName(files.toString())
                .dirDeleteOnShutdown(true)
                .threadingMode(ThreadingMode.SHARED)
                .sharedIdleStrategy(new SleepingIdleStrategy(DRIVER_IDLE_NANOS))
                .ipcTermBufferLength(many ? TERM_BYTES_OF_MANY : TERM_BYTES)
                .ipcMtuLength(many ? MTU_BYTES_OF_MANY : MTU_BYTES));
    return new Listening() {
      @Override
      public String address() {
        return files.toString();
      }

      @Override
      public Transport accept() {
        int toServer = STREAMS_OF_CONNECTION * accepted.incrementAndGet();
        return new End(address(), toServer, toServer + 1, witness);
      }

      @Override
      public void close() {
        driver.close();
      }
    };
  }

  @Override
  public Transport connect(String address, @Nullable Consumer<byte[]> witness) {
    int toServer = STREAMS_OF_CONNECTION * connected.incrementAndGet();
    return new End(address, toServer + 1, toServer, witness);
  }

  /** The client of this process, as long as there is a connection. */
  private static final class SharedClient {

    private static final Map<String, SharedClient> ALL = new HashMap<>(); // under its monitor

    private final Aeron aeron;
    private int users;

    private SharedClient(String directory) {
      aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(directory));
    }

    static Aeron retain(String directory) {
      synchronized (ALL) {
        SharedClient client = ALL.computeIfAbsent(directory, SharedClient::new);
        client.users++;
        return client.aeron;
      }
    }

    static void release(String directory) {
      synchronized (ALL) {
        SharedClient client = ALL.get(directory);
        if (client != null && --client.users == 0) {
          ALL.remove(directory);
          client.aeron.close();
        }
      }
    }
  }

  private static final class End implements Transport, FragmentHandler {

    private final String directory;
    private final ExclusivePublication outgoing;
    private final Subscription subscription;
    private final Image incoming;
    private final BufferClaim claim = new BufferClaim();
    private final @Nullable Consumer<byte[]> witness;
    private final DirectBuffer payload = new UnsafeBuffer(Payload.longest());
    private long lastValue;

    End(String directory, int in, int out, @Nullable Consumer<byte[]> witness) {
      this.witness = witness;
      this.directory = directory;
      Aeron aeron = SharedClient.retain(directory);
      outgoing = aeron.addExclusivePublication(CHANNEL, out);
      subscription = aeron.addSubscription(CHANNEL, in);
      while (subscription.imageCount() == 0) {
        LockSupport.parkNanos(LOOK_NANOS); // until the peer's publication is there
      }
      incoming = subscription.imageAtIndex(0);
    }

    @Override
    public boolean trySend(long value, int length) {
      if (outgoing.tryClaim(length, claim) < 0) {
        return false;
      }
      int offset = claim.offset();
      claim.buffer().putLong(offset, value);
      claim.buffer().putBytes(offset + Long.BYTES, payload, Long.BYTES, length - Long.BYTES);
      claim.commit();
      return true;
    }

    @Override
    public int poll(int limit) {
      return incoming.poll(this, limit);
    }

    @Override
    public void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
      lastValue = buffer.getLong(offset);
      if (witness != null) {
        byte[] bytes = new byte[length];
        buffer.getBytes(offset, bytes);
        witness.accept(bytes);
      }
    }

    @Override
    public long lastValue() {
      return lastValue;
    }

    @Override
    public void close() {
      outgoing.close();
      subscription.close();
      SharedClient.release(directory);
    }
  }
}
