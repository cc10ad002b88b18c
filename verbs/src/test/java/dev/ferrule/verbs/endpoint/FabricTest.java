// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.endpoint;

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

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.bindings.rdmacm.rdma_cm_event;
import dev.ferrule.bindings.rdmacm.rdma_event_channel;
import dev.ferrule.bindings.verbs.ibv_async_event;
import dev.ferrule.bindings.verbs.ibv_device_attr;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.Errno;
import dev.ferrule.verbs.FakeDevice;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
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
import org.junit.jupiter.api.Timeout;

/** To whom events go, where addresses are used again. */
@Timeout(30)
class FabricTest {

  private final FakeDevice device = new FakeDevice();

  private int eventChannel(int readable) {
    device.connectionManager();
    int descriptor = LibC.eventfd(readable, LibC.EFD_CLOEXEC());
    MemorySegment channel = rdma_event_channel.allocate(device.arena);
    rdma_event_channel.fd(channel, descriptor);
    when(device.cm.createEventChannel()).thenReturn(channel.address());
    return descriptor;
  }

  /** A client may come just then, and is turned away; which ends no other fabric, either. */
  @Test
  void shouldEndOnceThoughItIsRetainedAgainWhileItEnds() {
    int descriptor = eventChannel(0);
    Fabric fabric = Fabric.retain(device.library);
    fabric.release();
    Fabric next = Fabric.retain(device.library);

    fabric.retainMore();
    fabric.release();

    assertThat(next).isNotSameAs(fabric);
    verify(device.cm, times(1)).destroyEventChannel(anyLong());
    assertThat(Fabric.retain(device.library)).isSameAs(next);
    next.release();
    next.release();
    verify(device.cm, times(2)).destroyEventChannel(anyLong());
    LibC.close(descriptor);
  }

  /** Acknowledging an event lets another thread destroy its id and create one at its address. */
  @Test
  void shouldTellAnEventToTheHandlerOfItsIdAndNotOfTheNextOneAtTheSameAddress() throws Exception {
    int descriptor = eventChannel(1); // readable
    MemorySegment event = rdma_cm_event.allocate(device.arena);
    rdma_cm_event.event(event, CmEvent.Type.DISCONNECTED.ordinal());
    rdma_cm_event.id(event, device.id());
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    BlockingQueue<Long> events = new LinkedBlockingQueue<>();
    when(device.cm.getCmEvent(anyLong()))
        .thenAnswer(
            call -> {
              Long next = events.poll();
              return next == null ? (long) -Errno.EAGAIN : next;
            });
    AtomicReference<Runnable> onAcknowledgement = new AtomicReference<>(() -> {});
    doAnswer(
            call -> {
              onAcknowledgement.get().run();
              return null;
            })
        .when(device.cm)
        .ackCmEvent(anyLong());
    Fabric fabric = Fabric.retain(device.library); // its thread begins to call all of these
    CmId first = fabric.createId(one -> told.add("first"));
    onAcknowledgement.set(
        () -> {
          fabric.destroy(first);
          fabric.createId(one -> told.add("second"));
        });

    events.add(event.address());

    assertThat(told.poll(20, TimeUnit.SECONDS)).isEqualTo("first");
    fabric.release();
    assertThat(told).isEmpty();
    LibC.close(descriptor);
  }

  /** Before something is given up, what is there counts, though the fabric's thread is behind. */
  @Test
  void eventsThatAreThereAlreadyArePassedOnWhenAskedFor() throws Exception {
    int descriptor = eventChannel(0); // never readable
    MemorySegment event = rdma_cm_event.allocate(device.arena);
    rdma_cm_event.event(event, CmEvent.Type.ESTABLISHED.ordinal());
    rdma_cm_event.id(event, device.id());
    BlockingQueue<Long> events = new LinkedBlockingQueue<>(List.of(event.address()));
    when(device.cm.getCmEvent(anyLong()))
        .thenAnswer(
            call -> {
              Long next = events.poll();
              return next == null ? (long) -Errno.EAGAIN : next;
            });
    List<CmEvent.Type> told = new CopyOnWriteArrayList<>();
    Fabric fabric = Fabric.retain(device.library);
    fabric.createId(one -> told.add(one.type()));

    fabric.takeWaitingEvents();

    assertThat(told).containsExactly(CmEvent.Type.ESTABLISHED);
    fabric.release();
    LibC.close(descriptor);
  }

  @Test
  void shouldTellAnAsynchronousEventToTheWatcherOfItsQueuePairAndNotOfTheNextOne() {
    FabricDevice shared = new FabricDevice(device.context());
    List<String> told = new ArrayList<>();
    when(device.verbs.getAsyncEvent(anyLong(), any()))
        .thenAnswer(
            call -> {
              MemorySegment event = call.getArgument(1);
              ibv_async_event.event_type(event, AsyncEvent.Type.QUEUE_PAIR_FATAL.ordinal());
              event.set(ValueLayout.JAVA_LONG, ibv_async_event.element$offset(), 5);
              return 0;
            })
        .thenReturn(-Errno.EAGAIN);
    Consumer<AsyncEvent> first = event -> told.add("first");
    shared.watch(List.of(5L), first);
    doAnswer(
            call -> {
              shared.unwatch(List.of(5L), first);
              shared.watch(List.of(5L), event -> told.add("second"));
              return null;
            })
        .when(device.verbs)
        .ackAsyncEvent(any());

    shared.takeAsyncEvents();

    assertThat(told).containsExactly("first");
  }

  @Test
  void shouldRefuseACompletionQueueThatIsLongerThanTheDeviceCan() {
    when(device.verbs.queryDevice(anyLong(), any()))
        .thenAnswer(
            call -> {
              ibv_device_attr.max_cqe(call.getArgument(1), 100);
              return 0;
            });
    FabricDevice shared = new FabricDevice(device.context());

    assertThatThrownBy(() -> shared.createCompletionQueue(101, 1))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM))
        .hasMessageContaining("101 entries")
        .hasMessageContaining("the device can do 100");

    verify(device.verbs, never()).createCq(anyLong(), anyInt(), anyLong(), anyLong(), anyInt());
    shared.createCompletionQueue(100, 1);
  }
}
