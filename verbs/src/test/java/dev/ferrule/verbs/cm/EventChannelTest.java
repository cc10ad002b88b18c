// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ferrule.posix.Errno;
import dev.ferrule.verbs.FakeDevice;
import dev.ferrule.verbs.librdmacm.rdma_cm_event;
import dev.ferrule.verbs.librdmacm.rdma_conn_param;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventChannelTest {

  private final FakeDevice device = new FakeDevice();
  private EventChannel channel;

  @BeforeEach
  void create() {
    device.connectionManager();
    channel = EventChannel.create(device.library);
  }

  private MemorySegment event(int type, int status) {
    MemorySegment event = rdma_cm_event.allocate(device.arena);
    rdma_cm_event.event(event, type);
    rdma_cm_event.status(event, status);
    rdma_cm_event.id(event, MemorySegment.ofAddress(0x5001));
    when(device.cm.getCmEvent(anyLong())).thenReturn(event.address());
    return event;
  }

  @Test
  void theRemovalOfTheDeviceIsReported() {
    MemorySegment event = event(11, 0);
    CmEvent taken = channel.nextEvent().orElseThrow();
    assertThat(taken.type()).isEqualTo(CmEvent.Type.DEVICE_REMOVAL);
    assertThat(taken.id()).isEqualTo(0x5001);
    assertThat(taken.listenerId()).isZero();
    assertThat(taken.privateData()).isEmpty();
    verify(device.cm).ackCmEvent(event.address());
  }

  @Test
  void aFailureHasItsErrno() {
    event(7, -110);
    CmEvent taken = channel.nextEvent().orElseThrow();
    assertThat(taken.type()).isEqualTo(CmEvent.Type.UNREACHABLE);
    assertThat(taken.status()).isEqualTo(-110);
  }

  @Test
  void aRequestHasItsListenerAndItsData() {
    MemorySegment event = event(4, 0);
    rdma_cm_event.listen_id(event, MemorySegment.ofAddress(0x5002));
    MemorySegment parameters = rdma_cm_event.param.conn(rdma_cm_event.param(event));
    MemorySegment data = device.arena.allocate(200);
    data.fill((byte) 3);
    rdma_conn_param.private_data(parameters, data);
    rdma_conn_param.private_data_len(parameters, (byte) 200);

    CmEvent taken = channel.nextEvent().orElseThrow();
    data.fill((byte) 4); // after the acknowledgment, the C library may reuse it
    assertThat(taken.type()).isEqualTo(CmEvent.Type.CONNECT_REQUEST);
    assertThat(taken.listenerId()).isEqualTo(0x5002);
    assertThat(taken.privateData()).hasSize(200).containsOnly(3);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 16, 17, 1000})
  void anUnknownEventHasTheTypeUnknown(int code) {
    event(code, 0);
    assertThat(channel.nextEvent().orElseThrow().type()).isEqualTo(CmEvent.Type.UNKNOWN);
  }

  @ParameterizedTest
  @ValueSource(ints = {Errno.EAGAIN, Errno.EINTR})
  void aChannelWithoutEventIsEmpty(int errno) {
    when(device.cm.getCmEvent(anyLong())).thenReturn((long) -errno);
    assertThat(channel.nextEvent()).isEmpty();
    verify(device.cm, never()).ackCmEvent(anyLong());
  }

  @Test
  void theDescriptorIsThatOfC() {
    assertThat(channel.descriptor()).isEqualTo(55);
    channel.close();
    verify(device.cm).destroyEventChannel(anyLong());
  }

  @Test
  void anEventIsPassedToTheObserverBeforeItIsAcknowledged() {
    MemorySegment event = event(10, 0);
    List<CmEvent> shown = new ArrayList<>();

    Optional<CmEvent> taken =
        channel.nextEvent(one -> {
          verify(device.cm, never()).ackCmEvent(anyLong());
          shown.add(one);
        });

    assertThat(shown).containsExactly(taken.orElseThrow());
    verify(device.cm).ackCmEvent(event.address());
  }

  @Test
  void anEventIsAcknowledgedEvenIfItsObserverFails() {
    MemorySegment event = event(10, 0);

    assertThatThrownBy(() ->
            channel.nextEvent(one -> {
              throw new IllegalStateException();
            }))
        .isInstanceOf(IllegalStateException.class);

    verify(device.cm).ackCmEvent(event.address());
  }
}
