// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionState;
import dev.ferrule.ProtocolException;
import dev.ferrule.posix.libc.LibC;
import dev.ferrule.posix.libc.pollfd;
import dev.ferrule.verbs.AccessFlags;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.QueuePairSizes;
import dev.ferrule.verbs.ReceiveChain;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import dev.ferrule.verbs.VerbsContext;
import dev.ferrule.verbs.VerbsLibrary;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.cm.ConnectionParameters;
import dev.ferrule.verbs.cm.EventChannel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;

/**
 * One end of a connection, without Ferrule: does what a C program would do with librdmacm and
 * libibverbs, whether conforming or hostile. It is used by one thread at a time.
 */
final class RawPeer implements AutoCloseable {

  /** The number of posted receives, kept constant. */
  static final int RECEIVES = 32;

  private static final int SENDS = 64;

  private static final int READS = 4; // outstanding, in either direction

  /**
   * The statuses of an access that the other device refuses. If its refusal is lost, as a packet
   * may be, it does not answer the retransmissions: its queue pair is in the error state.
   */
  static final Set<CompletionStatus> REFUSED =
      Set.of(CompletionStatus.REMOTE_ACCESS_ERROR, CompletionStatus.RETRY_EXCEEDED);

  /** With 7, rdma_rxe retransmits forever to a peer whose queue pair is in the error state. */
  private static final int RETRIES = 6;

  /** The size of the memory that the peer may write to, addressed from 0. */
  static final int RING = 64 << 10;

  private static final int SIZE = 16 << 10; // of each receive, and of a send

  private final Events events;
  private final CmId id;
  private final boolean ownsEvents;
  private final ProtectionDomain domain;
  private final CompletionQueue sends;
  private final CompletionQueue receives;
  private final QueuePair queuePair;
  private final MemoryRegion memory; // of the receives, and of one send buffer
  private final Arena arena = Arena.ofShared();
  private final MemoryRegion ring; // for the peer to write to
  private final SendChain sendChain = new SendChain(1);
  private final ReceiveChain receiveChain = new ReceiveChain(1);
  private Optional<CmEvent> answer = Optional.empty();

  /**
   * Checks that a violation of the protocol by a peer is reported to the other end.
   *
   * @param failure that of its wait for a message
   */
  static void assertViolationReported(Connection other, Throwable failure, String... words) {
    assertThat(failure).isInstanceOf(ProtocolException.class).hasMessageContainingAll(words);
    assertThatThrownBy(() -> other.sender().claim(1))
        .isInstanceOf(ProtocolException.class)
        .hasMessageContainingAll(words);
    assertThat(other.state()).isEqualTo(ConnectionState.FAILED);
    assertThat(other.failure()).isInstanceOf(ProtocolException.class);
  }

  /** The events of a channel, awaited with a time limit. */
  private record Events(EventChannel channel) {

    static Events create() {
      EventChannel channel = EventChannel.create(VerbsLibrary.system());
      // a test that waits for a missing event fails, and leaves no thread in the kernel
      LibC.fcntl
          .makeInvoker(LibC.C_INT)
          .apply(channel.descriptor(), LibC.F_SETFL(), LibC.O_NONBLOCK());
      return new Events(channel);
    }

    CmEvent next() {
      long deadline = System.nanoTime() + Task.PATIENCE.toNanos();
      Optional<CmEvent> event = channel.nextEvent();
      while (event.isEmpty()) {
        if (System.nanoTime() - deadline > 0) {
          throw new AssertionError("timed out waiting for a connection manager event");
        }
        Task.pause(Duration.ofMillis(1));
        event = channel.nextEvent();
      }
      return event.get();
    }

    /** Returns whether there is an event to read. */
    boolean any() {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment descriptor = pollfd.allocate(arena);
        pollfd.fd(descriptor, channel.descriptor());
        pollfd.events(descriptor, (short) LibC.POLLIN());
        return LibC.poll(descriptor, 1, 0) > 0;
      }
    }

    void expect(CmEvent.Type wanted) {
      CmEvent event = next();
      if (event.type() != wanted) {
        throw new AssertionError("expected " + wanted + ", got " + event);
      }
    }
  }

  /** A received message. */
  record Message(byte[] bytes, boolean hasImmediate, int immediate) {}

  /** Waits for clients. */
  static final class RawListener implements AutoCloseable {

    private final Events events = Events.create();
    private final CmId id = events.channel().createId();

    RawListener() {
      id.bind(new InetSocketAddress(RdmaDevice.address(), 0));
      id.listen(8);
    }

    String address() {
      return address("sendrecv");
    }

    String address(String scheme) {
      return scheme + "://" + RdmaDevice.address() + ":" + id.port();
    }

    private CmId nextClient() {
      CmEvent request = events.next();
      if (request.type() != CmEvent.Type.CONNECT_REQUEST) {
        throw new AssertionError("expected a client, got " + request);
      }
      return events.channel().adopt(request.id());
    }

    /** Accepts the next client; the peer must be closed before the listener. */
    RawPeer accept(byte[] privateData) {
      return accept(privateData, 7);
    }

    /** Accepts the next client, with the number of RNR retries of its device. */
    RawPeer accept(byte[] privateData, int rnrRetry) {
      CmId client = nextClient();
      RawPeer peer = new RawPeer(events, client, false);
      client.accept(new ConnectionParameters(privateData, 0, 0, RETRIES, rnrRetry));
      peer.takeAnswer();
      return peer;
    }

    /** Takes the next client's request without answering it. */
    void ignoreClient() {
      nextClient().close();
    }

    void reject(byte[] privateData) {
      try (CmId client = nextClient()) {
        client.reject(privateData);
      }
    }

    @Override
    public void close() {
      id.close();
      events.channel().close();
    }
  }

  private RawPeer(Events events, CmId id, boolean ownsEvents) {
    this.events = events;
    this.id = id;
    this.ownsEvents = ownsEvents;
    VerbsContext context = id.context().orElseThrow();
    domain = context.allocateProtectionDomain();
    sends = context.createCompletionQueue(SENDS, null, 0);
    receives = context.createCompletionQueue(RECEIVES, null, 0);
    memory = domain.allocate((RECEIVES + 1L) * SIZE, AccessFlags.LOCAL_WRITE);
    ring =
        domain.registerZeroBased(
            arena.allocate(RING, 4096),
            AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ);
    queuePair =
        id.createQueuePair(domain, new QueuePairSizes(SENDS, RECEIVES, 0), sends, receives, null);
    for (int i = 0; i < RECEIVES; i++) {
      post(i);
    }
  }

  /** Connects to a listener; {@link #answer} returns the result. */
  static RawPeer connect(int port, byte[] privateData) {
    return connect(port, key -> privateData);
  }

  /** Connects with a hello that contains the key of the memory that the listener may write to. */
  static RawPeer connect(int port, IntFunction<byte[]> privateData) {
    RawPeer peer = connectInSilence(port, privateData);
    peer.takeAnswer();
    return peer;
  }

  /** Connects without reading the answer, and so without confirming the connection. */
  static RawPeer connectInSilence(int port, IntFunction<byte[]> privateData) {
    Events events = Events.create();
    CmId id = events.channel().createId();
    id.resolveAddress(
        new InetSocketAddress(RdmaDevice.address(), port), (int) Task.PATIENCE.toMillis());
    events.expect(CmEvent.Type.ADDRESS_RESOLVED);
    id.resolveRoute((int) Task.PATIENCE.toMillis());
    events.expect(CmEvent.Type.ROUTE_RESOLVED);
    RawPeer peer = new RawPeer(events, id, true);
    id.connect(parameters(privateData.apply(peer.ring.remoteKey())));
    return peer;
  }

  private static ConnectionParameters parameters(byte[] privateData) {
    return new ConnectionParameters(privateData, READS, READS, RETRIES, 7);
  }

  /**
   * Returns whether the listener has answered, without reading the answer, and so without
   * confirming the connection.
   */
  boolean hasUnreadAnswer() {
    return events.any();
  }

  private void takeAnswer() {
    CmEvent event = events.next();
    if (event.type() == CmEvent.Type.ESTABLISHED) {
      queuePair.setMinRnrTimer(12);
    }
    answer = Optional.of(event);
  }

  /** Returns the result of connecting. */
  CmEvent answer() {
    return answer.orElseThrow();
  }

  private void post(int slot) {
    receiveChain.set(
        0, slot, memory.segment().address() + (long) slot * SIZE, SIZE, memory.localKey());
    check(queuePair.post(receiveChain, 0, 1));
  }

  private static void check(int result) {
    if (result < 0) {
      throw new AssertionError("posting failed: " + result);
    }
  }

  /** Sends a message without immediate data, and waits for the peer's device to acknowledge it. */
  CompletionStatus send(byte[] message) {
    return send(SendOperation.SEND, message, 0);
  }

  /** Sends a message with immediate data, and waits for the peer's device to acknowledge it. */
  CompletionStatus send(byte[] message, int immediate) {
    return send(SendOperation.SEND_WITH_IMMEDIATE, message, immediate);
  }

  /**
   * Writes to the peer's memory with immediate data, and waits for its device to acknowledge it.
   */
  CompletionStatus write(byte[] message, int immediate, long remoteOffset, int remoteKey) {
    sendChain.setRemote(0, remoteOffset, remoteKey);
    return send(SendOperation.RDMA_WRITE_WITH_IMMEDIATE, message, immediate);
  }

  /** Writes to the peer's memory, and waits for its device to acknowledge it. */
  CompletionStatus write(byte[] bytes, long remoteOffset, int remoteKey) {
    sendChain.setRemote(0, remoteOffset, remoteKey);
    return send(SendOperation.RDMA_WRITE, bytes, 0);
  }

  /** Adds to a word of the peer's memory, and waits for its device to acknowledge it. */
  CompletionStatus add(long addend, long remoteOffset, int remoteKey) {
    sendChain.setAtomic(0, remoteOffset, remoteKey, addend, 0);
    return send(SendOperation.FETCH_AND_ADD, new byte[Long.BYTES], 0);
  }

  private CompletionStatus send(SendOperation operation, byte[] message, int immediate) {
    MemorySegment target = memory.segment().asSlice((long) RECEIVES * SIZE, SIZE);
    MemorySegment.copy(message, 0, target, ValueLayout.JAVA_BYTE, 0, message.length);
    sendChain.set(
        0, operation, 0, target.address(), message.length, memory.localKey(), SendChain.SIGNALED);
    if (operation == SendOperation.SEND_WITH_IMMEDIATE
        || operation == SendOperation.RDMA_WRITE_WITH_IMMEDIATE) {
      sendChain.setImmediate(0, immediate);
    }
    check(queuePair.post(sendChain, 0, 1));
    awaitCompletion(sends);
    return sends.status(0);
  }

  /** Waits for a message. */
  Message receive() {
    awaitCompletion(receives);
    if (!receives.isSuccess(0)) {
      throw new AssertionError("receiving failed: " + receives.status(0));
    }
    int slot = (int) receives.workRequestId(0);
    byte[] bytes =
        memory
            .segment()
            .asSlice((long) slot * SIZE, receives.length(0))
            .toArray(ValueLayout.JAVA_BYTE);
    boolean hasImmediate = receives.hasImmediate(0);
    Message message = new Message(bytes, hasImmediate, hasImmediate ? receives.immediate(0) : 0);
    post(slot);
    return message;
  }

  private static void awaitCompletion(CompletionQueue queue) {
    Task.await("a work request completes", () -> queue.poll(1) != 0);
  }

  void disconnect() {
    id.disconnect();
  }

  /** Returns the memory that the peer may write to and read. */
  MemorySegment ring() {
    return ring.segment();
  }

  /** Waits until the peer has ended the connection. */
  void awaitDisconnected() {
    events.expect(CmEvent.Type.DISCONNECTED);
  }

  @Override
  public void close() {
    id.disconnect();
    id.destroyQueuePair();
    id.close();
    sends.close();
    receives.close();
    memory.close();
    ring.close();
    arena.close();
    domain.close();
    if (ownsEvents) {
      events.channel().close();
    }
  }
}
