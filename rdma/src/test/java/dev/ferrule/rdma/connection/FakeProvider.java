// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static org.mockito.Mockito.mock;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.Option;
import dev.ferrule.rdma.context.SharedDevice;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.IdleChannel;
import dev.ferrule.rdma.queue.SendProtocol;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.VerbsLibrary;
import java.lang.foreign.Arena;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A fake protocol that posts no receives and needs no resources of a peer. */
final class FakeProvider implements RdmaProtocol {

  static final URI ADDRESS = URI.create("fake://127.0.0.1:7");

  private static final HelloFormat HELLO =
      new HelloFormat(0x656b6146, 1, 0, (kind, body) -> true); // "Fake"

  /** Whether a message arrives before any event of the peer. */
  volatile boolean messageCame;

  /** Whether the connection has flow control. */
  volatile boolean flowControlled = true;

  /** Whether the connection has a handshake. */
  volatile boolean hasHandshake = true;

  /** The sending half of the connections. The default never sends. */
  volatile SendProtocol sends = mock(SendProtocol.class);

  /** Called when a message is received. */
  volatile Runnable onReceived = () -> {};

  /** The error that occurs once when a client's hello is checked. */
  volatile @Nullable Error fault;

  private final FakeManager manager;

  FakeProvider(FakeManager manager) {
    this.manager = manager;
  }

  static ResolvedOptions options(String query) {
    List<Option<?>> known = new ArrayList<>(RdmaOptions.standard());
    known.addAll(
        List.of(
            RdmaOptions.UNACKED,
            RdmaOptions.POLL_BATCH,
            RdmaOptions.SEND_BUFFER,
            RdmaOptions.INLINE,
            RdmaOptions.SINGLE_RECEIVER,
            RdmaOptions.RNR_RETRY,
            RdmaOptions.ACK_TIMEOUT,
            RdmaOptions.RETRIES,
            RdmaOptions.MIN_RNR_TIMER));
    return ResolvedOptions.of(ConnectionOptions.defaults(), URI.create(ADDRESS + query), known);
  }

  RdmaListener listen(String query) {
    return listen(query, System::nanoTime);
  }

  /** Listens. The clock measures the time that accepted clients have to confirm. */
  RdmaListener listen(String query, LongSupplier clock) {
    return RdmaListener.listen(this, this::library, ADDRESS, options(query), clock);
  }

  RdmaConnection connect(String query) {
    return RdmaConnector.connect(this, this::library, ADDRESS, options(query));
  }

  private VerbsLibrary library() {
    return manager.device.library;
  }

  /** Returns the hello of a peer. */
  static byte[] hello(Hello.Kind kind) {
    return HELLO.encode(kind, new byte[0]);
  }

  /** Returns the hello of a peer with remote memory access. */
  static byte[] helloWithAccess(Hello.Kind kind) {
    return HELLO.encode(kind, 1, new HelloBody(0, new byte[0]), new byte[0]);
  }

  @Override
  public String scheme() {
    return "fake";
  }

  @Override
  public HelloFormat hello() {
    return HELLO;
  }

  @Override
  public @Nullable String objection(ResolvedOptions options, Hello client) {
    Error occurs = fault;
    fault = null;
    if (occurs != null) {
      throw occurs;
    }
    return null;
  }

  @Override
  public boolean hasHandshake(ResolvedOptions options) {
    return hasHandshake;
  }

  @Override
  public ReceiveSide receiveSide(
      SharedDevice device, Arena arena, ResolvedOptions options, boolean connects) {
    return new Side();
  }

  @Override
  public @Nullable String violationOfSend(CompletionStatus status) {
    return status == CompletionStatus.REMOTE_ACCESS_ERROR ? "violationOfSend" : null;
  }

  @Override
  public @Nullable String violationOfReceive(CompletionStatus status) {
    return null;
  }

  @Override
  public ProtocolTexts texts() {
    return new ProtocolTexts("stranger", "receiverNotReady", "queuesTooLarge", "full", "allHeld");
  }

  private final class Side implements ReceiveSide {

    @Override
    public int receives() {
      return 8;
    }

    @Override
    public @Nullable SharedReceiveQueue sharedQueue() {
      return null;
    }

    @Override
    public void start(QueuePair queuePair) {}

    @Override
    public HelloBody offer() {
      return new HelloBody(0, new byte[0]);
    }

    @Override
    public Agreement agree(@Nullable Hello peer) {
      return new Agreement() {
        @Override
        public int peerMaxMessage() {
          return 64;
        }

        @Override
        public boolean isFlowControlled() {
          return flowControlled;
        }

        @Override
        public Channel open(Channel.Parts parts) {
          return new Messages(parts);
        }
      };
    }

    @Override
    public void stop() {}

    @Override
    public void close() {}
  }

  private final class Messages extends IdleChannel {

    Messages(Parts parts) {
      super(parts, sends, 8);
      if (messageCame) {
        deliver(0, 0);
      }
    }

    @Override
    protected @Nullable String received(CompletionQueue completions, int index) {
      onReceived.run();
      deliver(0, 0);
      return null;
    }
  }
}
