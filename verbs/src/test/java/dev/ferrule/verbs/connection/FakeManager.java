// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.when;

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.bindings.rdmacm.rdma_cm_event;
import dev.ferrule.bindings.rdmacm.rdma_cm_id;
import dev.ferrule.bindings.rdmacm.rdma_conn_param;
import dev.ferrule.bindings.rdmacm.rdma_event_channel;
import dev.ferrule.bindings.verbs.ibv_async_event;
import dev.ferrule.bindings.verbs.ibv_comp_channel;
import dev.ferrule.bindings.verbs.ibv_context;
import dev.ferrule.bindings.verbs.ibv_device_attr;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.Errno;
import dev.ferrule.verbs.FakeDevice;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.endpoint.Fabric;
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
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** A device, and a connection manager that says what a test has it say, when the test wants it. */
final class FakeManager implements AutoCloseable {

  private static final int SIZES = 1 << 14;

  /** The functions; a test may stub them, as it may those of the connection manager. */
  final FakeDevice device = new FakeDevice();

  /** What the program asked for, in order: the function's name in the seam, and the id. */
  final List<String> calls = new CopyOnWriteArrayList<>();

  /** What happens when a client is accepted: gets its id. Stubs cannot be changed by then. */
  volatile LongConsumer onAccept = id -> {};

  private final Arena arena = Arena.ofAuto();
  private final Queue<Long> events = new ConcurrentLinkedQueue<>();
  private final int readable = LibC.eventfd(0, LibC.EFD_CLOEXEC() | LibC.EFD_NONBLOCK());
  private final Queue<AsyncEvent.Type> asyncEvents = new ConcurrentLinkedQueue<>();
  private final int asyncReadable = LibC.eventfd(0, LibC.EFD_CLOEXEC() | LibC.EFD_NONBLOCK());
  private final int never = LibC.eventfd(0, LibC.EFD_CLOEXEC() | LibC.EFD_NONBLOCK());
  private final AtomicInteger queuePairs = new AtomicInteger(100);
  private volatile long listenerId;

  /** The id of the last client that came, or of the last connection that was begun. */
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
        .thenAnswer(
            call -> {
              ibv_device_attr.max_qp_wr(call.getArgument(1), SIZES);
              ibv_device_attr.max_cqe(call.getArgument(1), SIZES);
              return 0;
            });
    when(device.cm.createId(anyLong())).thenAnswer(call -> lastId = newId());
    when(device.cm.createQp(anyLong(), anyLong(), any()))
        .thenAnswer(
            call -> {
              long queuePair = device.queuePair(queuePairs.incrementAndGet()).address();
              MemorySegment id =
                  MemorySegment.ofAddress(call.<Long>getArgument(0))
                      .reinterpret(rdma_cm_id.sizeof());
              rdma_cm_id.qp(id, MemorySegment.ofAddress(queuePair));
              return 0;
            });
    when(device.cm.listen(anyLong(), anyInt()))
        .thenAnswer(
            call -> {
              listenerId = call.getArgument(0);
              return 0;
            });
    when(device.cm.accept(anyLong(), any()))
        .thenAnswer(
            call -> {
              onAccept.accept(call.<Long>getArgument(0));
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

  /** Takes the next event; looks again after the descriptor is reset, or one could be missed. */
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

  /** A client comes, and the fabric's thread is woken up; returns the client's id. */
  long bringClient(byte[] hello) {
    long id = newId();
    lastId = id;
    hold(CmEvent.Type.CONNECT_REQUEST, id, 0, hello);
    wake(readable);
    return id;
  }

  /** Something happens to an id, and the fabric's thread does not notice by itself. */
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

  /** Something happens to an id, and the fabric's thread is woken up. */
  void tell(CmEvent.Type type, long id) {
    hold(type, id, 0, new byte[0]);
    wake(readable);
  }

  private static void wake(int descriptor) {
    try (Arena own = Arena.ofConfined()) {
      LibC.write(descriptor, own.allocateFrom(ValueLayout.JAVA_LONG, 1), Long.BYTES);
    }
  }

  /** The device reports that it is broken; it goes on working. */
  void reportFatalError() {
    asyncEvents.add(AsyncEvent.Type.DEVICE_FATAL);
    wake(asyncReadable);
  }

  /** Waits until all that is looked after now and then has been, once from its beginning. */
  void awaitTicks() throws InterruptedException {
    Fabric fabric = Fabric.retain(device.library);
    CountDownLatch ticks = new CountDownLatch(2);
    Runnable tick = ticks::countDown;
    fabric.addTick(tick);
    try {
      if (!ticks.await(20, TimeUnit.SECONDS)) {
        throw new AssertionError("the fabric's thread does not tick");
      }
    } finally {
      fabric.removeTick(tick);
      fabric.release();
    }
  }

  @Override
  public void close() {
    LibC.close(readable);
    LibC.close(asyncReadable);
    LibC.close(never);
  }
}
