// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.libc.LibC;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.FakeDevice;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.libibverbs.Verbs;
import dev.ferrule.verbs.libibverbs.ibv_async_event;
import dev.ferrule.verbs.libibverbs.ibv_context;
import dev.ferrule.verbs.libibverbs.ibv_device_attr;
import dev.ferrule.verbs.librdmacm.rdma_cm_event;
import dev.ferrule.verbs.librdmacm.rdma_event_channel;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The dispatch of events, also if an object has the address of an earlier one. */
class RdmaContextTest {

  private final FakeDevice device = new FakeDevice();

  private int eventChannel(int readable) {
    device.connectionManager();
    int descriptor = LibC.eventfd(readable, LibC.EFD_CLOEXEC());
    MemorySegment channel = rdma_event_channel.allocate(device.arena);
    rdma_event_channel.fd(channel, descriptor);
    when(device.cm.createEventChannel()).thenReturn(channel.address());
    return descriptor;
  }

  /**
   * A client that connects while the context ends is rejected. The rejection must not end another
   * context.
   */
  @Test
  void shouldEndOnceIfItIsRetainedWhileItEnds() {
    int descriptor = eventChannel(0);
    RdmaContext rdmaContext = RdmaContext.retain(device.library);
    rdmaContext.release();
    RdmaContext next = RdmaContext.retain(device.library);

    rdmaContext.retainMore();
    rdmaContext.release();

    assertThat(next).isNotSameAs(rdmaContext);
    verify(device.cm, times(1)).destroyEventChannel(anyLong());
    assertThat(RdmaContext.retain(device.library)).isSameAs(next);
    next.release();
    next.release();
    verify(device.cm, times(2)).destroyEventChannel(anyLong());
    LibC.close(descriptor);
  }

  /** After the acknowledgment, another thread may destroy the id and create one at its address. */
  @Test
  void shouldPassAnEventToTheHandlerOfItsIdAndNotOfTheNextOneAtTheSameAddress() throws Exception {
    int descriptor = eventChannel(1); // readable
    MemorySegment event = rdma_cm_event.allocate(device.arena);
    rdma_cm_event.event(event, CmEvent.Type.DISCONNECTED.ordinal());
    rdma_cm_event.id(event, device.id());
    BlockingQueue<String> received = new LinkedBlockingQueue<>();
    BlockingQueue<Long> events = new LinkedBlockingQueue<>();
    when(device.cm.getCmEvent(anyLong()))
        .thenAnswer(call -> {
          Long next = events.poll();
          return next == null ? (long) -Errno.EAGAIN : next;
        });
    AtomicReference<Runnable> onAcknowledgment = new AtomicReference<>(() -> {});
    doAnswer(
            call -> {
              onAcknowledgment.get().run();
              return null;
            })
        .when(device.cm)
        .ackCmEvent(anyLong());
    RdmaContext rdmaContext =
        RdmaContext.retain(device.library); // its event loop starts to call these
    CmId first = rdmaContext.createId(one -> received.add("first"));
    onAcknowledgment.set(() -> {
      rdmaContext.destroy(first);
      rdmaContext.createId(one -> received.add("second"));
    });

    events.add(event.address());

    assertThat(received.poll(1, TimeUnit.MINUTES)).isEqualTo("first");
    rdmaContext.release();
    assertThat(received).isEmpty();
    LibC.close(descriptor);
  }

  /**
   * A pending event is in time, even if the event loop has not run before the operation times out.
   */
  @Test
  void pendingEventsAreDispatchedOnRequest() throws Exception {
    int descriptor = eventChannel(0); // never readable
    MemorySegment event = rdma_cm_event.allocate(device.arena);
    rdma_cm_event.event(event, CmEvent.Type.ESTABLISHED.ordinal());
    rdma_cm_event.id(event, device.id());
    BlockingQueue<Long> events = new LinkedBlockingQueue<>(List.of(event.address()));
    when(device.cm.getCmEvent(anyLong()))
        .thenAnswer(call -> {
          Long next = events.poll();
          return next == null ? (long) -Errno.EAGAIN : next;
        });
    List<CmEvent.Type> received = new CopyOnWriteArrayList<>();
    RdmaContext rdmaContext = RdmaContext.retain(device.library);
    rdmaContext.createId(one -> received.add(one.type()));

    rdmaContext.takeWaitingEvents();

    assertThat(received).containsExactly(CmEvent.Type.ESTABLISHED);
    rdmaContext.release();
    LibC.close(descriptor);
  }

  @Test
  void shouldPassAnAsynchronousEventToTheWatcherOfItsQueuePairAndNotOfTheNextOne() {
    SharedDevice shared = new SharedDevice(device.context());
    List<String> received = new ArrayList<>();
    when(device.verbs.getAsyncEvent(anyLong(), any()))
        .thenAnswer(call -> {
          MemorySegment event = call.getArgument(1);
          ibv_async_event.event_type(event, AsyncEvent.Type.QUEUE_PAIR_FATAL.ordinal());
          event.set(ValueLayout.JAVA_LONG, ibv_async_event.element$offset(), 5);
          return 0;
        })
        .thenReturn(-Errno.EAGAIN);
    Consumer<AsyncEvent> first = event -> received.add("first");
    shared.watch(List.of(5L), first);
    doAnswer(
            call -> {
              shared.unwatch(List.of(5L), first);
              shared.watch(List.of(5L), event -> received.add("second"));
              return null;
            })
        .when(device.verbs)
        .ackAsyncEvent(any());

    shared.takeAsyncEvents();

    assertThat(received).containsExactly("first");
  }

  @Test
  void shouldRefuseACompletionQueueThatExceedsTheDevicesLimit() {
    when(device.verbs.queryDevice(anyLong(), any()))
        .thenAnswer(call -> {
          ibv_device_attr.max_cqe(call.getArgument(1), 100);
          return 0;
        });
    SharedDevice shared = new SharedDevice(device.context());

    assertThatThrownBy(() -> shared.createCompletionQueue(101, () -> {}))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM))
        .hasMessageContaining("101 entries")
        .hasMessageContaining("the device supports 100");

    verify(device.verbs, never()).createCq(anyLong(), anyInt(), anyLong(), anyLong(), anyInt());
    shared.createCompletionQueue(100, () -> {});
  }

  @Test
  void shouldNameADeviceWithoutAtomicOperations() {
    device.list("mlx5_7");
    ibv_context.device(device.contextMemory(), MemorySegment.ofAddress(1));
    SharedDevice without = new SharedDevice(device.context());
    assertThatThrownBy(without::checkAtomics)
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("mlx5_7 has no atomic operations");

    when(device.verbs.queryDevice(anyLong(), any()))
        .thenAnswer(call -> {
          ibv_device_attr.atomic_cap(call.getArgument(1), Verbs.IBV_ATOMIC_HCA());
          return 0;
        });
    new SharedDevice(device.context()).checkAtomics();
  }
}
