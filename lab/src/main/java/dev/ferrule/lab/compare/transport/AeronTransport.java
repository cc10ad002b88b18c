// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import io.aeron.Aeron;
import io.aeron.Image;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Aeron over shared memory: a publication for each direction, exclusive unless several threads
 * send, and a media driver in the server's process; connections of one process share a client. The
 * driver does not handle messages, but moves the limit up to which a publication may write: at most
 * half a term beyond what has been received. It does so every 0.1 ms or less, which costs the
 * spinning threads little. Long terms have room for what is sent in this time; short ones may not.
 */
final class AeronTransport extends TransportUnderTest {

  private static final String CHANNEL = "aeron:ipc";
  private static final int STREAMS_OF_CONNECTION = 2; // client to server, and server to client
  private static final String DIRECTORY = "aeron";
  private static final int MOST_MTU_BYTES = 2 * Transport.LONGEST;
  private static final int MESSAGES_OF_TERM = 8; // of Aeron's maximum length
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final int termBytes;
  private final int driverMicros;
  private final AtomicInteger accepted = new AtomicInteger();
  private final AtomicInteger connected = new AtomicInteger();

  /**
   * Creates a transport. {@code termBytes} is a power of two, at least 64 KiB; the media driver
   * sleeps for {@code driverMicros} when it is idle.
   */
  AeronTransport(String name, int termBytes, int driverMicros) {
    super(
        name,
        "Aeron "
            + Aeron.class.getPackage().getImplementationVersion()
            + " IPC, ExclusivePublication, or ConcurrentPublication for several senders, with"
            + " tryClaim, terms of %s KiB, driver idle for %s µs"
                .formatted(termBytes >> 10, driverMicros),
        Set.of(Mode.ONE_SENDER, Mode.SEVERAL_SENDERS)); // it cannot block a receiver
    this.termBytes = termBytes;
    this.driverMicros = driverMicros;
  }

  @Override
  public Listening listen(Mode mode, Path directory, @Nullable Consumer<byte[]> witness) {
    Path files = directory.resolve(DIRECTORY);
    DriverIdle idle = new DriverIdle(TimeUnit.MICROSECONDS.toNanos(driverMicros));
    MediaDriver driver =
        MediaDriver.launch(
            new MediaDriver.Context()
                .aeronDirectoryName(files.toString())
                .dirDeleteOnShutdown(true)
                .threadingMode(ThreadingMode.SHARED)
                .sharedIdleStrategy(idle)
                .ipcTermBufferLength(termBytes)
                .ipcMtuLength(Math.min(MOST_MTU_BYTES, termBytes / MESSAGES_OF_TERM)));
    return new Listening() {
      @Override
      public String address() {
        return files.toString();
      }

      @Override
      public Transport accept() {
        int toServer = STREAMS_OF_CONNECTION * accepted.incrementAndGet();
        return new End(mode, address(), toServer, toServer + 1, witness);
      }

      @Override
      public void pause() {
        idle.setPaused(true);
      }

      @Override
      public void resume() {
        idle.setPaused(false);
      }

      @Override
      public void close() {
        driver.close();
      }
    };
  }

  @Override
  public Transport connect(Mode mode, String address, @Nullable Consumer<byte[]> witness) {
    int toServer = STREAMS_OF_CONNECTION * connected.incrementAndGet();
    return new End(mode, address, toServer + 1, toServer, witness);
  }

  /** The idle strategy of the driver's thread, between two duty cycles. */
  private static final class DriverIdle implements IdleStrategy {

    private static final long PAUSED_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final long nanos;
    private volatile boolean paused;
    private volatile @Nullable Thread driver;

    DriverIdle(long nanos) {
      this.nanos = nanos;
    }

    void setPaused(boolean paused) {
      this.paused = paused;
      LockSupport.unpark(driver);
    }

    @Override
    public void idle(int workCount) {
      if (workCount == 0) {
        idle();
      }
    }

    @Override
    public void idle() {
      if (driver == null) {
        driver = Thread.currentThread();
      }
      LockSupport.parkNanos(paused ? PAUSED_NANOS : nanos);
    }

    @Override
    public void reset() {}
  }

  /** The client that the connections of this process share; it is closed with the last of them. */
  private static final class SharedClient {

    private static final Map<String, SharedClient> ALL = new HashMap<>(); // guarded by its monitor

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

  private static final class End extends AbstractTransport implements FragmentHandler {

    private final String directory;
    private final Publication outgoing;
    private final Subscription subscription;
    private final Image incoming;

    End(Mode mode, String directory, int in, int out, @Nullable Consumer<byte[]> witness) {
      Aeron aeron = SharedClient.retain(directory);
      Publication publication =
          mode == Mode.SEVERAL_SENDERS
              ? aeron.addPublication(CHANNEL, out)
              : aeron.addExclusivePublication(CHANNEL, out);
      super(mode, witness, () -> new Claims(publication));
      this.directory = directory;
      outgoing = publication;
      subscription = aeron.addSubscription(CHANNEL, in);
      while (subscription.imageCount() == 0) {
        LockSupport.parkNanos(LOOK_NANOS); // until the peer's publication exists
      }
      incoming = subscription.imageAtIndex(0);
    }

    @Override
    public int poll(int limit) {
      return incoming.poll(this, limit);
    }

    @Override
    public void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
      received(buffer.getLong(offset));
      if (witness != null) {
        byte[] bytes = new byte[length];
        buffer.getBytes(offset, bytes);
        witness.accept(bytes);
      }
    }

    @Override
    public void close() {
      outgoing.close();
      subscription.close();
      SharedClient.release(directory);
    }
  }

  private static final class Claims implements MessageSender {

    private final Publication publication;
    private final BufferClaim claim = new BufferClaim();
    private final DirectBuffer payload = new UnsafeBuffer(Payload.longest());

    Claims(Publication publication) {
      this.publication = publication;
    }

    @Override
    public boolean trySend(long value, int length) {
      if (publication.tryClaim(length, claim) < 0) {
        return false;
      }
      int offset = claim.offset();
      claim.buffer().putLong(offset, value);
      claim.buffer().putBytes(offset + Long.BYTES, payload, Long.BYTES, length - Long.BYTES);
      claim.commit();
      return true;
    }
  }
}
