// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ferrule.posix.Errno;
import dev.ferrule.verbs.FakeDevice;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.QueuePairSizes;
import dev.ferrule.verbs.VerbsContext;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.libibverbs.ibv_qp_cap;
import dev.ferrule.verbs.libibverbs.ibv_qp_init_attr;
import dev.ferrule.verbs.librdmacm.rdma_cm_id;
import dev.ferrule.verbs.librdmacm.rdma_conn_param;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CmIdTest {

  private final FakeDevice device = new FakeDevice();
  private CmId id;

  @BeforeEach
  void create() {
    device.connectionManager();
    id = EventChannel.create(device.library).createId();
  }

  @Test
  void anIdHasADeviceOnceItIsBoundToOne() {
    assertThat(id.context()).isEmpty();
    rdma_cm_id.verbs(device.id(), device.contextMemory());
    assertThat(id.context().map(VerbsContext::address)).contains(device.contextAddress());
  }

  @Test
  void thePortIsInHostByteOrder() {
    when(device.cm.getSrcPort(anyLong())).thenReturn(Short.reverseBytes((short) 0xfedc));
    assertThat(id.port()).isEqualTo(0xfedc);
  }

  @Test
  void anAddressInUseIsInTheMessage() {
    when(device.cm.bindAddr(anyLong(), any())).thenReturn(-Errno.EADDRINUSE);
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> id.bind(new InetSocketAddress("10.0.0.1", 18515)))
        .withMessageStartingWith(
            "rdma_bind_addr(10.0.0.1:18515): Address already in use (errno 98); another");
  }

  @Test
  void aQueuePairHasTheSizesThatTheDeviceChose() {
    when(device.cm.createQp(anyLong(), anyLong(), any()))
        .thenAnswer(call -> {
          MemorySegment capacities = ibv_qp_init_attr.cap(call.<MemorySegment>getArgument(2));
          ibv_qp_cap.max_send_wr(capacities, 16);
          ibv_qp_cap.max_recv_wr(capacities, 32);
          ibv_qp_cap.max_inline_data(capacities, 64);
          ibv_qp_cap.max_send_sge(capacities, 4);
          rdma_cm_id.qp(device.id(), MemorySegment.ofAddress(device.queuePairMemory()));
          return 0;
        });
    QueuePair queuePair =
        id.createQueuePair(
            device.domain(),
            new QueuePairSizes(10, 20, 30),
            device.completionQueue(),
            device.completionQueue(),
            null);
    assertThat(queuePair.sizes()).isEqualTo(new QueuePairSizes(16, 32, 64, 4));
    assertThat(queuePair.number()).isEqualTo(77);
    id.destroyQueuePair();
    verify(device.cm).destroyQp(id.address());
  }

  @Test
  void theRequestOfAClientThatIsGoneIsNotAcceptable() {
    assertThat(id.isAcceptable()).isTrue();
    device.errno = Errno.EINVAL;
    assertThat(id.isAcceptable()).isFalse();
  }

  @Test
  void anOldLibraryDoesNotSupportTheTimeout() {
    assertThat(id.setAckTimeout(14)).isTrue();
    device.errno = Errno.ENOSYS;
    assertThat(id.setAckTimeout(14)).isFalse();
    assertThat(id.disconnect()).isEqualTo(-Errno.ENOSYS);
  }

  @Test
  void theParametersAreEncoded() {
    try (Arena arena = Arena.ofConfined()) {
      byte[] data = new byte[ConnectionParameters.MAX_ACCEPT_DATA];
      data[195] = 5;
      MemorySegment encoded = new ConnectionParameters(data, 1, 2, 3, 4).encode(arena);
      assertThat(rdma_conn_param.private_data_len(encoded) & 0xff).isEqualTo(196);
      assertThat(
              rdma_conn_param.private_data(encoded).reinterpret(196).toArray(ValueLayout.JAVA_BYTE))
          .isEqualTo(data);
      assertThat(rdma_conn_param.responder_resources(encoded)).isEqualTo((byte) 1);
      assertThat(rdma_conn_param.initiator_depth(encoded)).isEqualTo((byte) 2);
      assertThat(rdma_conn_param.retry_count(encoded)).isEqualTo((byte) 3);
      assertThat(rdma_conn_param.rnr_retry_count(encoded)).isEqualTo((byte) 4);
    }
  }

  @Test
  void privateDataThatIsTooLongIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new ConnectionParameters(new byte[300], 1, 1, 7, 7))
        .withMessage("private data too long: 300 bytes exceed the limit of 196 bytes");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> id.reject(new byte[300]))
        .withMessage("private data too long: 300 bytes exceed the limit of 148 bytes");
    verify(device.cm, never()).reject(anyLong(), any(), anyInt());
    id.reject(new byte[ConnectionParameters.MAX_REJECT_DATA]);
    verify(device.cm).reject(anyLong(), any(), eq(148));
  }
}
