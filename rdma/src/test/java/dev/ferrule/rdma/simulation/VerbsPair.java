// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.verbs.AccessFlags;
import dev.ferrule.verbs.CompletionChannel;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.QueuePairSizes;
import dev.ferrule.verbs.ReceiveChain;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.VerbsContext;
import dev.ferrule.verbs.VerbsLibrary;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.cm.ConnectionParameters;
import dev.ferrule.verbs.cm.EventChannel;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Two connected queue pairs on a fabric, which use only the verbs layer. */
final class VerbsPair implements AutoCloseable {

  static final int QUEUE = 4;
  static final int MEMORY = 4096;

  private static final long PATIENCE_NANOS = 30_000_000_000L;

  /** One side. The completion queues have twice the entries of the queues. */
  static final class End implements AutoCloseable {

    final CmId id;
    final ProtectionDomain domain;
    final CompletionChannel events;
    final CompletionQueue sends;
    final CompletionQueue receives;
    final @Nullable SharedReceiveQueue shared;
    final QueuePair queuePair;
    final MemoryRegion memory;
    final SendChain chain = new SendChain(1);
    private final ReceiveChain receive = new ReceiveChain(1);

    End(CmId id, boolean sharesReceives) {
      this.id = id;
      VerbsContext context = id.context().orElseThrow();
      domain = context.allocateProtectionDomain();
      events = context.createCompletionChannel();
      sends = context.createCompletionQueue(2 * QUEUE, null, 0);
      receives = context.createCompletionQueue(2 * QUEUE, events, 7);
      shared = sharesReceives ? domain.createSharedReceiveQueue(QUEUE) : null;
      queuePair =
          id.createQueuePair(domain, new QueuePairSizes(QUEUE, QUEUE, 16), sends, receives, shared);
      memory =
          domain.allocate(
              MEMORY, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ);
    }

    int receive(int receiveId, int length) {
      receive.set(0, receiveId, memory.segment().address(), length, memory.localKey());
      return shared == null ? queuePair.post(receive, 0, 1) : shared.post(receive, 0, 1);
    }

    int send(int sendId, int length, int flags) {
      long address = memory.segment().address();
      chain.set(0, SendOperation.SEND, sendId, address, length, memory.localKey(), flags);
      return queuePair.post(chain, 0, 1);
    }

    /** Posts an RDMA WRITE to the peer's memory. */
    int write(int sendId, int length, long remoteAddress, int remoteKey) {
      long address = memory.segment().address();
      int key = memory.localKey();
      chain.set(0, SendOperation.RDMA_WRITE, sendId, address, length, key, SendChain.SIGNALED);
      chain.setRemote(0, remoteAddress, remoteKey);
      return queuePair.post(chain, 0, 1);
    }

    static String next(CompletionQueue queue) {
      return eventually(() ->
          queue.poll(1) == 1
              ? Optional.of(queue.workRequestId(0) + " " + queue.status(0))
              : Optional.empty());
    }

    @Override
    public void close() {
      id.disconnect();
      id.destroyQueuePair();
      id.close();
      if (shared != null) {
        shared.close();
      }
      memory.close();
      sends.close();
      receives.close();
      events.close();
      domain.close();
    }
  }

  private final EventChannel channel;
  private final CmId listener;
  final End client;
  final End server;

  VerbsPair(VerbsLibrary library, boolean sharesReceives) {
    channel = EventChannel.create(library);
    listener = channel.createId();
    listener.bind(new InetSocketAddress("127.0.0.1", 0));
    listener.listen(1);
    CmId id = channel.createId();
    id.resolveAddress(new InetSocketAddress("127.0.0.1", listener.port()), 1000);
    await(CmEvent.Type.ADDRESS_RESOLVED);
    id.resolveRoute(1000);
    await(CmEvent.Type.ROUTE_RESOLVED);
    client = new End(id, false);
    ConnectionParameters parameters = new ConnectionParameters(new byte[] {42}, 4, 4, 7, 7);
    id.connect(parameters);
    server = new End(channel.adopt(await(CmEvent.Type.CONNECT_REQUEST).id()), sharesReceives);
    server.id.accept(parameters);
    await(CmEvent.Type.ESTABLISHED);
    await(CmEvent.Type.ESTABLISHED);
  }

  CmEvent await(CmEvent.Type type) {
    CmEvent event = eventually(channel::nextEvent);
    if (event.type() != type) {
      throw new AssertionError(event + " instead of " + type);
    }
    return event;
  }

  static <T> T eventually(Supplier<Optional<T>> attempt) {
    long end = System.nanoTime() + PATIENCE_NANOS;
    Optional<T> result = attempt.get();
    while (result.isEmpty()) {
      if (System.nanoTime() - end > 0) {
        throw new AssertionError("timed out");
      }
      Thread.onSpinWait();
      result = attempt.get();
    }
    return result.get();
  }

  static String flushed(int id) {
    return id + " " + CompletionStatus.FLUSHED;
  }

  static String success(int id) {
    return id + " " + CompletionStatus.SUCCESS;
  }

  @Override
  public void close() {
    client.close();
    server.close();
    listener.close();
    channel.close();
  }
}
