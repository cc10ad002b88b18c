// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.MessageHandler;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.Sender;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.VersionProvider;
import dev.ferrule.tools.bench.FreshAddress;
import dev.ferrule.tools.support.ConfiguredAddress;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One of Ferrule's own transports, with default options except the wait strategy. */
final class FerruleTransport extends TransportUnderTest {

  private final String scheme;
  private final WaitStrategy wait;

  /** Creates a transport that polls, and spins while it waits for buffer space. */
  FerruleTransport(String scheme) {
    this(scheme, WaitStrategy.SPIN);
  }

  FerruleTransport(String scheme, WaitStrategy wait) {
    super(
        wait == WaitStrategy.SPIN ? scheme : scheme + "-" + wait.name().toLowerCase(Locale.ROOT),
        "Ferrule "
            + VersionProvider.version()
            + ", send, poll"
            + (wait == WaitStrategy.SPIN ? "" : ", receive")
            + "; stage of copies and flush for batches"
            + (isOurs(scheme) ? "; a sender by newSender for each thread" : "")
            + "; wait=block and receive for wake-up",
        isOurs(scheme)
            ? EnumSet.allOf(Mode.class)
            : EnumSet.of(Mode.ONE_SENDER, Mode.BLOCKED_RECEIVER));
    this.scheme = scheme;
    this.wait = wait;
  }

  private static boolean isOurs(String scheme) {
    return scheme.equals(TransportsUnderTest.OURS);
  }

  private WaitStrategy strategy(Mode mode) {
    return mode == Mode.BLOCKED_RECEIVER ? WaitStrategy.BLOCK : wait;
  }

  private String options(Mode mode) {
    return "?wait="
        + strategy(mode).name().toLowerCase(Locale.ROOT)
        + (isOurs(scheme) ? "&maxMessage=" + Transport.LONGEST : "");
  }

  @Override
  public Listening listen(Mode mode, Path directory, @Nullable Consumer<byte[]> witness) {
    Listener listener = Ferrule.listen(URI.create(where(directory) + options(mode)));
    return new Listening() {
      @Override
      public String address() {
        return listener.uri().toString();
      }

      @Override
      public Transport accept() {
        return new End(listener.accept(), mode, witness, strategy(mode));
      }

      @Override
      public void close() {
        listener.close();
      }
    };
  }

  private String where(Path directory) {
    if (isOurs(scheme)) {
      return scheme + "://" + directory.toUri().getRawPath();
    }
    return FreshAddress.of(ConfiguredAddress.requiredProvider(scheme), Optional.empty())
        .uri()
        .toString();
  }

  @Override
  public Transport connect(Mode mode, String address, @Nullable Consumer<byte[]> witness) {
    URI uri = URI.create(address);
    return new End(
        Ferrule.connect(uri.getQuery() == null ? URI.create(address + options(mode)) : uri),
        mode,
        witness,
        strategy(mode));
  }

  private static final class End extends AbstractTransport implements MessageHandler {

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    private final Connection connection;
    private final Receiver receiver;
    private final boolean waits;

    End(Connection connection, Mode mode, @Nullable Consumer<byte[]> witness, WaitStrategy wait) {
      super(mode, witness, () -> new Copies(connection.sender()));
      this.connection = connection;
      this.waits = wait != WaitStrategy.SPIN;
      receiver = connection.receiver();
    }

    @Override
    public MessageSender newSender() {
      return new Copies(connection.newSender());
    }

    @Override
    public int poll(int limit) {
      int taken = receiver.poll(this, limit);
      receiver.idle();
      if (taken == 0 && waits) {
        receiveOne();
        return 1;
      }
      return taken;
    }

    private void receiveOne() {
      try (ReceiveRegion message = receiver.receive()) {
        onMessage(message.segment(), 0, message.length());
      }
    }

    @Override
    public void onMessage(MemorySegment buffer, long offset, int length) {
      received(buffer.get(LONG, offset));
      if (witness != null) {
        witness.accept(buffer.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE));
      }
    }

    @Override
    public void close() {
      connection.close();
    }
  }

  /** Sends copies. Waits for buffer space instead of returning false or sending fewer messages. */
  private static final class Copies implements MessageSender {

    private final Sender sender;
    private final MemorySegment payload = MemorySegment.ofBuffer(Payload.longest());

    Copies(Sender sender) {
      this.sender = sender;
    }

    @Override
    public boolean trySend(long value, int length) {
      payload.set(End.LONG, 0, value);
      sender.send(payload, 0, length);
      return true;
    }

    @Override
    public int trySendBatch(long first, int count, int length) {
      for (int i = 0; i < count; i++) {
        payload.set(End.LONG, 0, first + i);
        sender.stage(payload, 0, length);
      }
      sender.flush();
      return count;
    }

    @Override
    public void close() {
      sender.close();
    }
  }
}
