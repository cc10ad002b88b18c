// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.posix.libc.LibC;
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
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Both ends of a connection through the device to itself, by the verbs layer only. */
final class Loopback implements AutoCloseable {

  static final int MEMORY = 64 * 1024;
  static final int INLINE = 64;
  static final int KEY = 4711;

  private static final QueuePairSizes SIZES = new QueuePairSizes(16, 16, INLINE);
  private static final int RESOLVE_MILLIS = (int) Task.PATIENCE.toMillis();

  /** A completion, copied from the queue. */
  record Completion(
      long id,
      CompletionStatus status,
      boolean receive,
      int length,
      Optional<Integer> immediate,
      int queuePair) {}

  /** One side. */
  static final class End implements AutoCloseable {

    final CmId id;
    final ProtectionDomain domain;
    final CompletionChannel events;
    final CompletionQueue sends;
    final CompletionQueue receives;
    final Optional<SharedReceiveQueue> shared;
    final QueuePair queuePair;
    final MemoryRegion memory;
    private final SendChain send = new SendChain(1);
    private final ReceiveChain receive = new ReceiveChain(1);

    End(CmId id, boolean sharedReceives) {
      this.id = id;
      VerbsContext context = id.context().orElseThrow();
      domain = context.allocateProtectionDomain();
      events = context.createCompletionChannel();
      doNotBlock(events.descriptor());
      sends = context.createCompletionQueue(64, null, 0);
      receives = context.createCompletionQueue(64, events, KEY);
      shared = sharedReceives ? Optional.of(domain.createSharedReceiveQueue(16)) : Optional.empty();
      queuePair = id.createQueuePair(domain, SIZES, sends, receives, shared.orElse(null));
      memory =
          domain.allocate(
              MEMORY, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ);
    }

    long address(int offset) {
      return memory.segment().address() + offset;
    }

    void write(int offset, String text) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory.segment(), offset, bytes.length);
    }

    String read(int offset, int length) {
      byte[] bytes = new byte[length];
      MemorySegment.copy(memory.segment(), offset, MemorySegment.ofArray(bytes), 0, length);
      return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Posts a receive with its offset as the id. */
    void receive(int offset, int length) {
      receive.set(0, offset, address(offset), length, memory.localKey());
      int result =
          shared.isPresent() ? shared.get().post(receive, 0, 1) : queuePair.post(receive, 0, 1);
      if (result != 0) {
        throw new AssertionError("post of a receive failed: " + result);
      }
    }

    void send(SendOperation operation, long requestId, int offset, int length, int flags) {
      send.set(0, operation, requestId, address(offset), length, memory.localKey(), flags);
      int result = queuePair.post(send, 0, 1);
      if (result != 0) {
        throw new AssertionError("post of a send failed: " + result);
      }
    }

    /** Returns the next send, to be filled in. */
    SendChain nextSend() {
      return send;
    }

    Completion nextSent() {
      return next(sends);
    }

    Completion nextReceived() {
      return next(receives);
    }

    private static Completion next(CompletionQueue queue) {
      return eventually(
          "a completion",
          () ->
              switch (queue.poll(1)) {
                case 0 -> Optional.empty();
                case 1 -> Optional.of(completion(queue, 0));
                default -> throw new AssertionError("the queue cannot be polled");
              });
    }

    static Completion completion(CompletionQueue queue, int index) {
      return new Completion(
          queue.workRequestId(index),
          queue.status(index),
          queue.isReceive(index),
          queue.length(index),
          queue.hasImmediate(index) ? Optional.of(queue.immediate(index)) : Optional.empty(),
          queue.queuePairNumber(index));
    }

    @Override
    public void close() {
      id.destroyQueuePair();
      id.close();
      shared.ifPresent(SharedReceiveQueue::close);
      memory.close();
      sends.close();
      receives.close();
      events.close();
      domain.close(); // fails if an object of the domain is left
    }
  }

  final EventChannel channel = EventChannel.create(VerbsLibrary.system());
  final String address = RdmaDevice.address();
  private final List<CmEvent> events = new ArrayList<>();
  private final List<Runnable> opened = new ArrayList<>();

  Loopback() {
    doNotBlock(channel.descriptor());
  }

  static void doNotBlock(int descriptor) {
    LibC.fcntl.makeInvoker(LibC.C_INT).apply(descriptor, LibC.F_SETFL(), LibC.O_NONBLOCK());
  }

  static <T> T eventually(String what, Supplier<Optional<T>> attempt) {
    long deadline = System.nanoTime() + Task.PATIENCE.toNanos();
    Optional<T> result = attempt.get();
    while (result.isEmpty()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("timed out waiting for " + what);
      }
      Thread.onSpinWait();
      result = attempt.get();
    }
    return result.get();
  }

  static ConnectionParameters parameters(String privateData) {
    return new ConnectionParameters(privateData.getBytes(StandardCharsets.UTF_8), 4, 4, 7, 7);
  }

  CmId listen() {
    CmId listener = closeLater(channel.createId());
    listener.bind(new InetSocketAddress(address, 0));
    listener.listen(8);
    return listener;
  }

  /** Returns a client that may connect to a port. */
  End client(int port) {
    CmId id = channel.createId();
    id.resolveAddress(new InetSocketAddress(address, port), RESOLVE_MILLIS);
    await(CmEvent.Type.ADDRESS_RESOLVED, id.address());
    id.resolveRoute(RESOLVE_MILLIS);
    await(CmEvent.Type.ROUTE_RESOLVED, id.address());
    return closeLater(new End(id, false));
  }

  End server(CmEvent request, boolean sharedReceives) {
    return closeLater(new End(channel.adopt(request.id()), sharedReceives));
  }

  /** Waits for a client's request. */
  CmEvent awaitRequest(CmId listener) {
    return await("a request", event -> event.listenerId() == listener.address());
  }

  /** Waits for an event of an id; events of other ids are kept for later. */
  CmEvent await(CmEvent.Type type, long id) {
    return await(type.toString(), event -> event.type() == type && event.id() == id);
  }

  private interface Wanted {
    boolean is(CmEvent event);
  }

  private CmEvent await(String what, Wanted wanted) {
    return eventually(
        what + " among " + events,
        () -> {
          channel.nextEvent().ifPresent(events::add);
          Iterator<CmEvent> candidates = events.iterator();
          while (candidates.hasNext()) {
            CmEvent candidate = candidates.next();
            if (wanted.is(candidate)) {
              candidates.remove();
              return Optional.of(candidate);
            }
          }
          return Optional.empty();
        });
  }

  CmId closeLater(CmId id) {
    opened.add(0, id::close);
    return id;
  }

  private End closeLater(End end) {
    opened.add(0, end::close);
    return end;
  }

  @Override
  public void close() {
    opened.forEach(Runnable::run);
    channel.close();
  }

  /** Both ends, connected. */
  record Pair(End client, End server) {}

  Pair connect() {
    return connect(false, parameters(""));
  }

  Pair connect(boolean sharedReceives, ConnectionParameters parameters) {
    CmId listener = listen();
    End client = client(listener.port());
    client.id.connect(parameters);
    End server = server(awaitRequest(listener), sharedReceives);
    server.id.accept(parameters);
    await(CmEvent.Type.ESTABLISHED, client.id.address());
    await(CmEvent.Type.ESTABLISHED, server.id.address());
    return new Pair(client, server);
  }
}
