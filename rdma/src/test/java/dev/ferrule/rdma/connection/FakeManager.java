// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.when;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.libc.LibC;
import dev.ferrule.rdma.context.RdmaContext;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.FakeDevice;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.libibverbs.ibv_async_event;
import dev.ferrule.verbs.libibverbs.ibv_comp_channel;
import dev.ferrule.verbs.libibverbs.ibv_context;
import dev.ferrule.verbs.libibverbs.ibv_device_attr;
import dev.ferrule.verbs.librdmacm.rdma_cm_event;
import dev.ferrule.verbs.librdmacm.rdma_cm_id;
import dev.ferrule.verbs.librdmacm.rdma_conn_param;
import dev.ferrule.verbs.librdmacm.rdma_event_channel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** A fake device and connection manager. A test controls the events and their timing. */
final class FakeManager implements AutoCloseable {

  private static final int SIZES = 1 << 14;

  /** The functions, which a test may stub. */
  final FakeDevice device = new FakeDevice();

  /** The recorded calls, in order. */
  final List<String> calls = new CopyOnWriteArrayList<>();

  /**
   * Called with the id when a client is accepted. A test sets this instead of a stub, as stubs
   * cannot be changed at that time.
   */
  volatile LongConsumer onAccept = id -> {};

  /** Returns the number of completions of a poll. All are successful and have the id 0. */
  volatile IntSupplier onPoll = () -> 0;

  /** Called when a client requests a connection. */
  volatile Runnable onConnect = () -> {};

  /** Called with the attributes of a queue pair; returns a negative errno to refuse it. */
  volatile ToIntFunction<MemorySegment> onQueuePair = attributes -> 0;

  private final Arena arena = Arena.ofAuto();
  private final Queue<Long> events = new ConcurrentLinkedQueue<>();
  private final int readable = LibC.eventfd(0, LibC.EFD_CLOEXEC() | LibC.EFD_NONBLOCK());
  private final Queue<AsyncEvent.Type> asyncEvents = new ConcurrentLinkedQueue<>();
  private final int asyncReadable = LibC.eventfd(0, LibC.EFD_CLOEXEC() | LibC.EFD_NONBLOCK());
  private final int never = LibC.eventfd(0, LibC.EFD_CLOEXEC() | LibC.EFD_NONBLOCK());
  private final AtomicInteger queuePairs = new AtomicInteger(100);
  private volatile long listenerId;

  /** The scatter/gather elements of a request that the device supports. */
  volatile int pieces = 32;

  /** The id of the last client, or of the last connection attempt. */
  volatile long lastId;

  FakeManager() {
    ibv_context.async_fd(device.contextMemory(), asyncReadable);
    when(device.verbs.getAsyncEvent(anyLong(), any()))
        .thenAnswer(call -> nextAsyncEvent(call.getArgument(1)));
    device.registrations();
    MemorySegment channel = rdma_event_channel.allocate(arena);
    rdma_event_channel.fd(channel, readable);
    when(device.cm.createEventChannel()).thenReturn(channel.address());
    MemorySegment completions = ibv_comp_channel.allocate(arena);
    ibv_comp_channel.fd(completions, never);
    when(device.verbs.createCompChannel(anyLong())).thenReturn(completions.address());
    long region = device.registrations();
    when(device.verbs.regMrIova(anyLong(), anyLong(), anyLong(), anyLong(), anyInt()))
        .thenReturn(region);
    AtomicInteger handles = new AtomicInteger(0x3000);
    when(device.verbs.allocPd(anyLong())).thenAnswer(call -> (long) handles.incrementAndGet());
    when(device.verbs.createCq(anyLong(), anyInt(), anyLong(), anyLong(), anyInt()))
        .thenAnswer(call -> (long) handles.incrementAndGet());
    when(device.verbs.queryDevice(anyLong(), any()))
        .thenAnswer(call -> {
          ibv_device_attr.max_qp_wr(call.getArgument(1), SIZES);
          ibv_device_attr.max_cqe(call.getArgument(1), SIZES);
          ibv_device_attr.max_sge(call.getArgument(1), pieces);
          return 0;
        });
    when(device.verbs.pollCq(any(), anyLong(), anyInt(), anyLong()))
        .thenAnswer(call -> onPoll.getAsInt());
    when(device.cm.createId(anyLong())).thenAnswer(call -> lastId = newId());
    when(device.cm.createQp(anyLong(), anyLong(), any()))
        .thenAnswer(call -> {
          int error = onQueuePair.applyAsInt(call.getArgument(2));
          if (error < 0) {
            return error;
          }
          long queuePair = device.queuePair(queuePairs.incrementAndGet()).address();
          MemorySegment id =
              MemorySegment.ofAddress(call.<Long>getArgument(0)).reinterpret(rdma_cm_id.sizeof());
          rdma_cm_id.qp(id, MemorySegment.ofAddress(queuePair));
          return 0;
        });
    when(device.cm.listen(anyLong(), anyInt()))
        .thenAnswer(call -> {
          listenerId = call.getArgument(0);
          return 0;
        });
    when(device.cm.accept(anyLong(), any()))
        .thenAnswer(call -> {
          onAccept.accept(call.<Long>getArgument(0));
          return 0;
        });
    when(device.cm.resolveAddr(anyLong(), any(), anyInt()))
        .thenAnswer(call -> emit(CmEvent.Type.ADDRESS_RESOLVED));
    when(device.cm.resolveRoute(anyLong(), anyInt()))
        .thenAnswer(call -> emit(CmEvent.Type.ROUTE_RESOLVED));
    when(device.cm.connect(anyLong(), any()))
        .thenAnswer(call -> {
          onConnect.run();
          return 0;
        });
    doAnswer(call -> calls.add("destroyQp")).when(device.cm).destroyQp(anyLong());
    when(device.cm.getCmEvent(anyLong())).thenAnswer(call -> nextEvent());
  }

  private long newId() {
    MemorySegment id = rdma_cm_id.allocate(arena);
    rdma_cm_id.verbs(id, device.contextMemory());
    return id.address();
  }

  private long nextEvent() {
    Long next = next(events, readable);
    return next == null ? -Errno.EAGAIN : next;
  }

  private int nextAsyncEvent(MemorySegment event) {
    AsyncEvent.Type next = next(asyncEvents, asyncReadable);
    if (next == null) {
      return -Errno.EAGAIN;
    }
    ibv_async_event.event_type(event, next.ordinal());
    return 0;
  }

  /**
   * Takes the next event. Polls again after the descriptor is reset; otherwise an event could be
   * missed.
   */
  private static <T> @Nullable T next(Queue<T> events, int descriptor) {
    T next = events.poll();
    if (next != null) {
      return next;
    }
    try (Arena own = Arena.ofConfined()) {
      LibC.read(descriptor, own.allocate(Long.BYTES), Long.BYTES);
    }
    return events.poll();
  }

  /** Adds a connect request, and wakes the event loop; returns the client's id. */
  long bringClient(byte[] hello) {
    long id = newId();
    lastId = id;
    hold(CmEvent.Type.CONNECT_REQUEST, id, 0, hello);
    wake(readable);
    return id;
  }

  /** Adds an event of an id without waking the event loop. */
  void hold(CmEvent.Type type, long id, int status, byte[] privateData) {
    MemorySegment event = rdma_cm_event.allocate(arena);
    rdma_cm_event.event(event, type.ordinal());
    rdma_cm_event.status(event, status);
    rdma_cm_event.id(event, MemorySegment.ofAddress(id));
    rdma_cm_event.listen_id(event, MemorySegment.ofAddress(listenerId));
    MemorySegment parameters =
        event.asSlice(rdma_cm_event.param$offset(), rdma_conn_param.sizeof());
    if (privateData.length > 0) {
      rdma_conn_param.private_data(
          parameters, arena.allocateFrom(ValueLayout.JAVA_BYTE, privateData));
      rdma_conn_param.private_data_len(parameters, (byte) privateData.length);
    }
    events.add(event.address());
  }

  /** Adds an event of an id, and wakes the event loop. */
  void emit(CmEvent.Type type, long id) {
    hold(type, id, 0, new byte[0]);
    wake(readable);
  }

  /** Answers the last connection attempt. */
  void answer(CmEvent.Type type, int status, byte[] privateData) {
    hold(type, lastId, status, privateData);
    wake(readable);
  }

  private int emit(CmEvent.Type type) {
    emit(type, lastId);
    return 0;
  }

  private static void wake(int descriptor) {
    try (Arena own = Arena.ofConfined()) {
      LibC.write(descriptor, own.allocateFrom(ValueLayout.JAVA_LONG, 1), Long.BYTES);
    }
  }

  /** Adds a fatal event of the device. The device continues to work. */
  void reportFatalError() {
    asyncEvents.add(AsyncEvent.Type.DEVICE_FATAL);
    wake(asyncReadable);
  }

  /** Waits until all ticks have run completely at least once. */
  void awaitTicks() throws InterruptedException {
    RdmaContext rdmaContext = RdmaContext.retain(device.library);
    CountDownLatch ticks = new CountDownLatch(2);
    Runnable tick = ticks::countDown;
    rdmaContext.addTick(tick);
    try {
      if (!ticks.await(1, TimeUnit.MINUTES)) {
        throw new AssertionError("the event loop does not tick");
      }
    } finally {
      rdmaContext.removeTick(tick);
      rdmaContext.release();
    }
  }

  @Override
  public void close() {
    LibC.close(readable);
    LibC.close(asyncReadable);
    LibC.close(never);
  }
}
