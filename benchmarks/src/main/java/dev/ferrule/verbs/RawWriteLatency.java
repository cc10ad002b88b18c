// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.cm.ConnectionParameters;
import dev.ferrule.verbs.cm.EventChannel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;

/**
 * Measures the latency of a bare RDMA WRITE WITH IMMEDIATE: two processes write to each other
 * alternately, directly through the verbs layer, without ring, flow control, acknowledgments or
 * ids. A receive is posted for each write, as the verb requires. The difference to magicring is
 * magicring's own cost.
 *
 * <p>Arguments: {@code server ADDRESS PORT} or {@code client ADDRESS PORT SIZE WARMUP MESSAGES};
 * the client prints percentiles of half the round trip in microseconds. See {@code
 * build-support/rxe/perftest.sh}.
 */
public final class RawWriteLatency implements AutoCloseable {

  private static final int RECEIVES = 64;
  private static final int RECEIVE_BATCH = 16;
  private static final int SENDS = 64;
  private static final int SIGNAL_EVERY = 16;
  private static final int INLINE = 64;
  private static final int LONGEST = 4096;
  private static final int TIMEOUT_MILLIS = 10_000;

  private final EventChannel events;
  private final CmId id;
  private final Arena arena = Arena.ofShared();
  private final ProtectionDomain domain;
  private final MemoryRegion target; // the target of the peer's writes
  private final MemoryRegion source;
  private final CompletionQueue sends;
  private final CompletionQueue receives;
  private final QueuePair queuePair;
  private final SendChain write = new SendChain(1);
  private final ReceiveChain receive = new ReceiveChain(RECEIVE_BATCH);
  private int taken; // receives to repost
  private long written;

  private RawWriteLatency(EventChannel events, CmId id) {
    this.events = events;
    this.id = id;
    VerbsContext context = id.context().orElseThrow();
    domain = context.allocateProtectionDomain();
    MemorySegment memory = arena.allocate(2 * LONGEST, 4096);
    target =
        domain.registerZeroBased(
            memory.asSlice(0, LONGEST), AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
    source = domain.register(arena, memory.asSlice(LONGEST, LONGEST), AccessFlags.LOCAL_WRITE);
    sends = context.createCompletionQueue(SENDS, null, 0);
    receives = context.createCompletionQueue(RECEIVES, null, 0);
    queuePair =
        id.createQueuePair(
            domain, new QueuePairSizes(SENDS, RECEIVES, INLINE), sends, receives, null);
    for (int i = 0; i < RECEIVE_BATCH; i++) {
      // a write consumes the receive request, but none of its memory
      receive.set(i, 0, source.segment().address(), LONGEST, source.localKey());
    }
    for (int i = 0; i < RECEIVES / RECEIVE_BATCH; i++) {
      check(queuePair.post(receive, 0, RECEIVE_BATCH));
    }
  }

  private static void check(int result) {
    if (result < 0) {
      throw new IllegalStateException("posting failed: errno " + -result);
    }
  }

  private static CmEvent await(EventChannel events, CmEvent.Type wanted) {
    Optional<CmEvent> event = events.nextEvent();
    while (event.isEmpty() || event.get().type() == CmEvent.Type.CONNECT_RESPONSE) {
      event = events.nextEvent();
    }
    if (event.get().type() != wanted) {
      throw new IllegalStateException("expected event " + wanted + ", got " + event.get());
    }
    return event.get();
  }

  private ConnectionParameters parameters() {
    byte[] key = ByteBuffer.allocate(Integer.BYTES).putInt(target.remoteKey()).array();
    return new ConnectionParameters(key, 0, 0, 7, 7);
  }

  private void aimAt(byte[] privateData) {
    write.setRemote(0, 0, ByteBuffer.wrap(privateData).getInt());
  }

  private void write(int size) {
    written++;
    int flags =
        (size <= INLINE ? SendChain.INLINE : 0)
            | (written % SIGNAL_EVERY == 0 || size == 0 ? SendChain.SIGNALED : 0);
    write.set(
        0,
        SendOperation.RDMA_WRITE_WITH_IMMEDIATE,
        written,
        source.segment().address(),
        size,
        source.localKey(),
        flags);
    write.setImmediate(0, size);
    check(queuePair.post(write, 0, 1));
  }

  /** Sends the peer the last message, and waits until its device acknowledges it. */
  private void end() {
    write(0);
    long done = 0;
    while (done < written) {
      int count = sends.poll(CompletionQueue.BATCH);
      done = count > 0 ? sends.workRequestId(count - 1) : done;
    }
  }

  /** Waits for a write of the peer, and returns its length; -1 if the peer has disconnected. */
  private int awaitWrite() {
    int count = receives.poll(1);
    while (count == 0) {
      Thread.onSpinWait();
      count = receives.poll(1);
    }
    if (count < 0 || !receives.isSuccess(0)) {
      return -1;
    }
    int length = receives.immediate(0);
    taken++;
    if (taken == RECEIVE_BATCH) {
      check(queuePair.post(receive, 0, RECEIVE_BATCH));
      taken = 0;
    }
    return length;
  }

  private void exchange(int size) {
    write(size);
    if (awaitWrite() != size) {
      throw new IllegalStateException("the peer has disconnected");
    }
    takeCompletions();
  }

  private void takeCompletions() {
    if (written % SIGNAL_EVERY == 1) {
      sends.poll(CompletionQueue.BATCH); // the completion of the last signaled write
    }
  }

  private long[] measure(int size, int messages) {
    long[] nanos = new long[messages];
    for (int i = 0; i < messages; i++) {
      long start = System.nanoTime();
      exchange(size);
      nanos[i] = (System.nanoTime() - start) / 2;
    }
    return nanos;
  }

  /**
   * Runs one side.
   *
   * @param arguments see the class description
   */
  public static void main(String[] arguments) {
    InetSocketAddress address = new InetSocketAddress(arguments[1], Integer.parseInt(arguments[2]));
    if (arguments[0].equals("server")) {
      serve(address);
      return;
    }
    int size = Integer.parseInt(arguments[3]);
    try (RawWriteLatency client = connect(address)) {
      client.measure(size, Integer.parseInt(arguments[4]));
      long[] nanos = client.measure(size, Integer.parseInt(arguments[5]));
      client.end();
      Arrays.sort(nanos);
      System.out.printf(
          "p50 %.2f p99 %.2f%n",
          nanos[nanos.length / 2] / 1000.0, nanos[nanos.length * 99 / 100] / 1000.0);
    }
  }

  private static void serve(InetSocketAddress address) {
    EventChannel events = EventChannel.create(VerbsLibrary.system());
    CmId listening = events.createId();
    listening.bind(address);
    listening.listen(1);
    System.out.println("listening");
    CmEvent request = await(events, CmEvent.Type.CONNECT_REQUEST);
    try (RawWriteLatency server = new RawWriteLatency(events, events.adopt(request.id()))) {
      server.aimAt(request.privateData());
      server.id.accept(server.parameters());
      await(events, CmEvent.Type.ESTABLISHED);
      for (int size = server.awaitWrite(); size > 0; size = server.awaitWrite()) {
        server.write(size);
        server.takeCompletions();
      }
      listening.close();
    }
  }

  private static RawWriteLatency connect(InetSocketAddress address) {
    EventChannel events = EventChannel.create(VerbsLibrary.system());
    CmId id = events.createId();
    id.resolveAddress(address, TIMEOUT_MILLIS);
    await(events, CmEvent.Type.ADDRESS_RESOLVED);
    id.resolveRoute(TIMEOUT_MILLIS);
    await(events, CmEvent.Type.ROUTE_RESOLVED);
    RawWriteLatency client = new RawWriteLatency(events, id);
    id.connect(client.parameters());
    client.aimAt(await(events, CmEvent.Type.ESTABLISHED).privateData());
    return client;
  }

  @Override
  public void close() {
    id.destroyQueuePair();
    id.close();
    sends.close();
    receives.close();
    target.close();
    source.close();
    domain.close();
    arena.close();
    events.close();
  }
}
