// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.transport;

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
import dev.ferrule.tools.support.Endpoint;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One of Ferrule's own transports, with the options' defaults but for the way to wait. */
final class FerruleContender implements Contender {

  private final String scheme;
  private final WaitStrategy wait;
  private final String options;

  /** Creates one that polls, and spins where it has to wait for room. */
  FerruleContender(String scheme) {
    this(scheme, WaitStrategy.SPIN);
  }

  FerruleContender(String scheme, WaitStrategy wait) {
    this.scheme = scheme;
    this.wait = wait;
    // Over RDMA every receive buffer is as long as the longest message.
    this.options = "?wait=" + wait.name().toLowerCase(Locale.ROOT) + "&maxMessage=16KiB";
  }

  @Override
  public String name() {
    return wait == WaitStrategy.SPIN ? scheme : scheme + "-" + wait.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public String version() {
    return "Ferrule "
        + VersionProvider.version()
        + ", send, poll"
        + (wait == WaitStrategy.SPIN ? "" : ", receive");
  }

  @Override
  public Listening listen(Path directory, @Nullable Consumer<byte[]> witness) {
    Listener listener = Ferrule.listen(URI.create(where(directory) + options));
    return new Listening() {
      @Override
      public String address() {
        return listener.uri().toString();
      }

      @Override
      public Transport accept() {
        return new End(listener.accept(), witness, wait);
      }

      @Override
      public void close() {
        listener.close();
      }
    };
  }

  private String where(Path directory) {
    if (scheme.equals(Contenders.OURS)) {
      return scheme + "://" + directory.toUri().getRawPath();
    }
    return FreshAddress.of(Endpoint.requiredProvider(scheme), Optional.empty()).uri().toString();
  }

  @Override
  public Transport connect(String address, @Nullable Consumer<byte[]> witness) {
    URI uri = URI.create(address);
    return new End(
        Ferrule.connect(uri.getQuery() == null ? URI.create(address + options) : uri),
        witness,
        wait);
  }

  private static final class End implements Transport, MessageHandler {

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    private final Connection connection;
    private final Sender sender;
    private final Receiver receiver;
    private final @Nullable Consumer<byte[]> witness;
    private final boolean waits;
    private final MemorySegment payload = MemorySegment.ofBuffer(Payload.longest());
    private long lastValue;

    End(Connection connection, @Nullable Consumer<byte[]> witness, WaitStrategy wait) {
      this.connection = connection;
      this.witness = witness;
      this.waits = wait != WaitStrategy.SPIN;
      sender = connection.sender();
      receiver = connection.receiver();
    }

    /** Waits for room by itself. */
    @Override
    public boolean trySend(long value, int length) {
      payload.set(LONG, 0, value);
      sender.send(payload, 0, length);
      return true;
    }

    @Override
    public int poll(int limit) {
      int taken = receiver.poll(this, limit);
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
      lastValue = buffer.get(LONG, offset);
      if (witness != null) {
        witness.accept(buffer.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE));
      }
    }

    @Override
    public long lastValue() {
      return lastValue;
    }

    @Override
    public void close() {
      connection.close();
    }
  }
}
