// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ferrule.posix.Errno;
import dev.ferrule.verbs.libibverbs.Verbs;
import dev.ferrule.verbs.libibverbs.ibv_async_event;
import dev.ferrule.verbs.libibverbs.ibv_device_attr;
import dev.ferrule.verbs.libibverbs.ibv_port_attr;
import dev.ferrule.verbs.libibverbs.ibv_qp_attr;
import dev.ferrule.verbs.libibverbs.ibv_qp_cap;
import dev.ferrule.verbs.libibverbs.ibv_qp_init_attr;
import dev.ferrule.verbs.libibverbs.ibv_srq_attr;
import dev.ferrule.verbs.libibverbs.ibv_srq_init_attr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The fields that are read from the structures of the device, and written to them. */
class VerbsContextTest {

  private final FakeDevice device = new FakeDevice();

  private void attributes(long maxMemoryRegionSize) {
    when(device.verbs.queryDevice(anyLong(), any()))
        .thenAnswer(call -> {
          MemorySegment attributes = call.getArgument(1);
          ibv_device_attr.fw_ver(attributes).setString(0, "1.2.3");
          ibv_device_attr.vendor_id(attributes, 0x2c9);
          ibv_device_attr.vendor_part_id(attributes, 4119);
          ibv_device_attr.max_mr_size(attributes, maxMemoryRegionSize);
          ibv_device_attr.max_qp(attributes, 1);
          ibv_device_attr.max_qp_wr(attributes, 2);
          ibv_device_attr.max_sge(attributes, 3);
          ibv_device_attr.max_cq(attributes, 4);
          ibv_device_attr.max_cqe(attributes, 5);
          ibv_device_attr.max_mr(attributes, 6);
          ibv_device_attr.max_srq(attributes, 7);
          ibv_device_attr.max_srq_wr(attributes, 8);
          ibv_device_attr.atomic_cap(attributes, Verbs.IBV_ATOMIC_HCA());
          ibv_device_attr.max_qp_rd_atom(attributes, 9);
          ibv_device_attr.max_qp_init_rd_atom(attributes, 10);
          ibv_device_attr.phys_port_cnt(attributes, (byte) 200);
          return 0;
        });
  }

  @Test
  void theLimitsAreRead() {
    attributes(1L << 40);
    assertThat(device.context().attributes())
        .isEqualTo(
            new DeviceAttributes(
                "1.2.3",
                0x2c9,
                4119,
                1L << 40,
                1,
                2,
                3,
                4,
                5,
                6,
                7,
                8,
                AtomicCapability.DEVICE,
                9,
                10,
                200));
  }

  @Test
  void anUnknownAtomicCapabilityIsNone() {
    assertThat(AtomicCapability.of(Verbs.IBV_ATOMIC_NONE())).isEqualTo(AtomicCapability.NONE);
    assertThat(AtomicCapability.of(Verbs.IBV_ATOMIC_GLOB())).isEqualTo(AtomicCapability.GLOBAL);
    assertThat(AtomicCapability.of(3)).isEqualTo(AtomicCapability.NONE);
    assertThat(AtomicCapability.of(-1)).isEqualTo(AtomicCapability.NONE);
  }

  @Test
  void aRegionWithoutLimitHasTheLargestOne() {
    attributes(-1); // 2^64 - 1, as soft-RoCE reports
    assertThat(device.context().attributes().maxMemoryRegionSize()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void theStateOfAPortIsRead() {
    when(device.verbs.queryPort(anyLong(), anyInt(), any()))
        .thenAnswer(call -> {
          MemorySegment attributes = call.getArgument(2);
          ibv_port_attr.state(attributes, call.<Integer>getArgument(1) == 1 ? 4 : 1);
          ibv_port_attr.active_mtu(attributes, 5);
          ibv_port_attr.max_msg_sz(attributes, 1 << 31);
          ibv_port_attr.gid_tbl_len(attributes, 1024);
          ibv_port_attr.link_layer(attributes, (byte) 2);
          return 0;
        });
    assertThat(device.context().port(1))
        .isEqualTo(new PortAttributes(true, 4096, 1L << 31, 1024, true));
    assertThat(device.context().port(2).active()).isFalse();
  }

  @Test
  void anIdentifierIsRead() {
    when(device.verbs.queryGid(anyLong(), anyInt(), anyInt(), any()))
        .thenAnswer(call -> {
          call.<MemorySegment>getArgument(3).set(ValueLayout.JAVA_BYTE, 15, (byte) 9);
          return 0;
        });
    assertThat(device.context().gid(1, 0))
        .containsExactly(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9);
  }

  private void event(int type, long element) {
    when(device.verbs.getAsyncEvent(anyLong(), any()))
        .thenAnswer(call -> {
          MemorySegment event = call.getArgument(1);
          ibv_async_event.event_type(event, type);
          event.set(ValueLayout.JAVA_LONG, ibv_async_event.element$offset(), element);
          return 0;
        });
  }

  @Test
  void aFatalDeviceErrorIsReported() {
    event(8, 0);
    assertThat(device.context().nextAsyncEvent())
        .contains(new AsyncEvent(AsyncEvent.Type.DEVICE_FATAL, 8, 0));
    verify(device.verbs).ackAsyncEvent(any());
  }

  @Test
  void anErrorOfAQueuePairIsReported() {
    event(1, 0x1234_5678_9abcL);
    assertThat(device.context().nextAsyncEvent())
        .contains(new AsyncEvent(AsyncEvent.Type.QUEUE_PAIR_FATAL, 1, 0x1234_5678_9abcL));
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 20, 21, 1000})
  void anUnknownEventIsReportedWithItsNumber(int code) {
    event(code, 5);
    assertThat(device.context().nextAsyncEvent())
        .contains(new AsyncEvent(AsyncEvent.Type.UNKNOWN, code, 5));
  }

  @Test
  void aDeviceWithoutPendingEventHasNoEvent() {
    device.errno = Errno.EAGAIN;
    assertThat(device.context().nextAsyncEvent()).isEmpty();
    device.errno = Errno.EINTR;
    assertThat(device.context().nextAsyncEvent()).isEmpty();
    verify(device.verbs, never()).ackAsyncEvent(any());
  }

  @Test
  void aSharedReceiveQueueIsDescribed() {
    when(device.verbs.createSrq(anyLong(), any()))
        .thenAnswer(call -> {
          MemorySegment sizes = ibv_srq_init_attr.attr(call.<MemorySegment>getArgument(1));
          assertThat(ibv_srq_attr.max_wr(sizes)).isEqualTo(100);
          assertThat(ibv_srq_attr.max_sge(sizes)).isEqualTo(1);
          return 0x7777L;
        });
    device.domain().createSharedReceiveQueue(100).close();
    verify(device.verbs).destroySrq(0x7777L);
  }

  @Test
  void aQueuePairIsDescribed() {
    CompletionQueue sends = device.completionQueue();
    SharedReceiveQueue shared = device.sharedReceiveQueue();
    QueuePairSizes sizes = new QueuePairSizes(10, 20, 30, 2);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = QueuePair.describe(arena, sizes, sends, sends, shared);
      assertThat(ibv_qp_init_attr.qp_type(attributes)).isEqualTo(2);
      assertThat(ibv_qp_init_attr.send_cq(attributes).address()).isEqualTo(sends.address());
      assertThat(ibv_qp_init_attr.recv_cq(attributes).address()).isEqualTo(sends.address());
      assertThat(ibv_qp_init_attr.srq(attributes).address()).isEqualTo(shared.address());
      assertThat(ibv_qp_init_attr.sq_sig_all(attributes)).isZero();
      MemorySegment capacities = ibv_qp_init_attr.cap(attributes);
      assertThat(ibv_qp_cap.max_send_sge(capacities)).isEqualTo(2);
      assertThat(ibv_qp_cap.max_recv_sge(capacities)).isEqualTo(1);
      assertThat(QueuePair.sizes(attributes)).isEqualTo(sizes);
      MemorySegment without = QueuePair.describe(arena, sizes, sends, sends, null);
      assertThat(ibv_qp_init_attr.srq(without)).isEqualTo(MemorySegment.NULL);
    }
  }

  @Test
  void aQueuePairHasItsNumberAndSizes() {
    QueuePair queuePair = device.queuePair();
    assertThat(queuePair.number()).isEqualTo(77);
    assertThat(queuePair.sizes()).isEqualTo(new QueuePairSizes(8, 8, 0));
  }

  @Test
  void onlyTheStateIsModifiedForTheErrorState() {
    int[] mask = new int[1];
    when(device.verbs.modifyQp(anyLong(), any(), anyInt()))
        .thenAnswer(call -> {
          assertThat(ibv_qp_attr.qp_state(call.<MemorySegment>getArgument(1))).isEqualTo(6);
          mask[0] = call.getArgument(2);
          return 0;
        });
    device.queuePair().toError();
    assertThat(mask[0]).isEqualTo(1);
  }

  @Test
  void onlyTheTimerIsModifiedForTheTimer() {
    int[] mask = new int[1];
    when(device.verbs.modifyQp(anyLong(), any(), anyInt()))
        .thenAnswer(call -> {
          assertThat(ibv_qp_attr.min_rnr_timer(call.<MemorySegment>getArgument(1)))
              .isEqualTo((byte) 12);
          mask[0] = call.getArgument(2);
          return 0;
        });
    device.queuePair().setMinRnrTimer(12);
    assertThat(mask[0]).isEqualTo(1 << 15);
  }
}
