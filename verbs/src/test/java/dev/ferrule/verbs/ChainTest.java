// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.atLeastOnce;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.RawMemory;
import dev.ferrule.verbs.libibverbs.Verbs;
import dev.ferrule.verbs.libibverbs.ibv_recv_wr;
import dev.ferrule.verbs.libibverbs.ibv_send_wr;
import dev.ferrule.verbs.libibverbs.ibv_sge;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The native structures of the chains, as a device reads them. */
class ChainTest {

  private final FakeDevice device = new FakeDevice();
  private final QueuePair queuePair = device.queuePair();

  /** The ids of the requests of each post. */
  private final List<List<Long>> posted = new ArrayList<>();

  /** Follows the links as a device does, and fails at a request. */
  private int take(long request, long bad, int accepted, int result, long id, long next) {
    List<Long> ids = new ArrayList<>();
    posted.add(ids);
    long current = request;
    while (current != 0) {
      if (ids.size() == accepted) {
        RawMemory.putLong(bad, current);
        return result;
      }
      ids.add(RawMemory.getLong(current + id));
      current = RawMemory.getLong(current + next);
    }
    return 0;
  }

  private void acceptSends(int accepted, int result) {
    when(device.verbs.postSend(any(), anyLong(), anyLong(), anyLong()))
        .thenAnswer(call ->
            take(
                call.getArgument(2),
                call.getArgument(3),
                accepted,
                result,
                ibv_send_wr.wr_id$offset(),
                ibv_send_wr.next$offset()));
  }

  private int receives(long request, long bad, int accepted, int result) {
    return take(
        request, bad, accepted, result, ibv_recv_wr.wr_id$offset(), ibv_recv_wr.next$offset());
  }

  private static SendChain sends(int count) {
    SendChain chain = new SendChain(count);
    for (int i = 0; i < count; i++) {
      chain.set(i, SendOperation.SEND, i, 0, 0, 0, 0);
    }
    return chain;
  }

  private static ReceiveChain receiveChain(int count) {
    ReceiveChain chain = new ReceiveChain(count);
    for (int i = 0; i < count; i++) {
      chain.set(i, i, 0, 0, 0);
    }
    return chain;
  }

  @Test
  void aRunOfSendsIsCutAndJoinedAgain() {
    acceptSends(Integer.MAX_VALUE, 0);
    SendChain chain = sends(5);
    assertThat(chain.capacity()).isEqualTo(5);
    assertThat(queuePair.post(chain, 1, 2)).isZero();
    assertThat(queuePair.post(chain, 0, 5)).isZero();
    assertThat(queuePair.post(chain, 4, 1)).isZero();
    assertThat(queuePair.post(chain, 3, 2)).isZero();
    assertThat(posted)
        .containsExactly(
            List.of(1L, 2L), List.of(0L, 1L, 2L, 3L, 4L), List.of(4L), List.of(3L, 4L));
  }

  @Test
  void sendsArePostedByTheFunctionOfTheDevice() {
    queuePair.post(sends(1), 0, 1);
    verify(device.verbs)
        .postSend(
            eq(MemorySegment.ofAddress(FakeDevice.POST_SEND)),
            eq(queuePair.address()),
            anyLong(),
            anyLong());
  }

  @Test
  void aFullSendQueueReportsTheFailedRequestAndTheChainIsJoinedAgain() {
    acceptSends(2, -Errno.ENOMEM);
    SendChain chain = sends(5);
    assertThat(queuePair.post(chain, 1, 4)).isEqualTo(-Errno.ENOMEM);
    assertThat(chain.failedIndex()).isEqualTo(3);
    assertThat(queuePair.post(chain, 0, 2)).isZero();
    acceptSends(Integer.MAX_VALUE, 0);
    queuePair.post(chain, 0, 5);
    assertThat(posted.get(posted.size() - 1)).containsExactly(0L, 1L, 2L, 3L, 4L);
  }

  @Test
  void theFirstRequestMayFail() {
    acceptSends(0, -Errno.EINVAL);
    SendChain chain = sends(2);
    assertThat(queuePair.post(chain, 0, 2)).isEqualTo(-Errno.EINVAL);
    assertThat(chain.failedIndex()).isZero();
  }

  @Test
  void aRunOfReceivesIsCutAndJoinedAgain() {
    when(device.verbs.postRecv(any(), anyLong(), anyLong(), anyLong()))
        .thenAnswer(call -> receives(call.getArgument(2), call.getArgument(3), 3, -Errno.ENOMEM));
    ReceiveChain chain = receiveChain(4);
    assertThat(chain.capacity()).isEqualTo(4);
    assertThat(queuePair.post(chain, 2, 2)).isZero();
    assertThat(queuePair.post(chain, 0, 4)).isEqualTo(-Errno.ENOMEM);
    assertThat(chain.failedIndex()).isEqualTo(3);
    assertThat(queuePair.post(chain, 0, 1)).isZero();
    assertThat(posted).containsExactly(List.of(2L, 3L), List.of(0L, 1L, 2L), List.of(0L));
    verifyPosted(FakeDevice.POST_RECV);
  }

  private void verifyPosted(long function) {
    verify(device.verbs, atLeastOnce())
        .postRecv(
            eq(MemorySegment.ofAddress(function)), eq(queuePair.address()), anyLong(), anyLong());
  }

  @Test
  void aRunOfSharedReceivesIsCutAndJoinedAgain() {
    SharedReceiveQueue queue = device.sharedReceiveQueue();
    when(device.verbs.postSrqRecv(
            eq(MemorySegment.ofAddress(FakeDevice.POST_SRQ_RECV)),
            eq(queue.address()),
            anyLong(),
            anyLong()))
        .thenAnswer(call -> receives(call.getArgument(2), call.getArgument(3), 3, -Errno.ENOMEM));
    ReceiveChain chain = receiveChain(4);
    assertThat(queue.post(chain, 0, 2)).isZero();
    assertThat(queue.post(chain, 0, 4)).isEqualTo(-Errno.ENOMEM);
    assertThat(chain.failedIndex()).isEqualTo(3);
    assertThat(posted).containsExactly(List.of(0L, 1L), List.of(0L, 1L, 2L));
  }

  @Test
  void aSendHasTheFieldsThatWereSet() {
    SendChain chain = new SendChain(2);
    chain.set(
        1,
        SendOperation.RDMA_WRITE_WITH_IMMEDIATE,
        0x1122334455667788L,
        0x7fff_0000_1234L,
        -2, // 4 GiB - 2: the number is unsigned
        0xcafebabe,
        SendChain.SIGNALED | SendChain.FENCE);
    chain.setRemote(1, 0x7fff_0000_5678L, 0xdeadbeef);
    chain.setImmediate(1, 0x01020304);
    MemorySegment request = send(chain, 1);
    assertThat(ibv_send_wr.wr_id(request)).isEqualTo(0x1122334455667788L);
    assertThat(ibv_send_wr.next(request)).isEqualTo(MemorySegment.NULL);
    assertThat(ibv_send_wr.num_sge(request)).isEqualTo(1);
    assertThat(ibv_send_wr.opcode(request)).isEqualTo(1);
    assertThat(ibv_send_wr.send_flags(request)).isEqualTo(3);
    MemorySegment remote = ibv_send_wr.wr.rdma(ibv_send_wr.wr(request));
    assertThat(ibv_send_wr.wr.rdma.remote_addr(remote)).isEqualTo(0x7fff_0000_5678L);
    assertThat(ibv_send_wr.wr.rdma.rkey(remote)).isEqualTo(0xdeadbeef);
    MemorySegment piece = ibv_send_wr.sg_list(request).reinterpret(ibv_sge.sizeof());
    assertThat(ibv_sge.addr(piece)).isEqualTo(0x7fff_0000_1234L);
    assertThat(ibv_sge.length(piece)).isEqualTo(-2);
    assertThat(ibv_sge.lkey(piece)).isEqualTo(0xcafebabe);
  }

  @Test
  void anAtomicRequestHasTheFieldsThatWereSet() {
    SendChain chain = new SendChain(1);
    chain.set(0, SendOperation.COMPARE_AND_SWAP, 1, 0x1000, 8, 5, SendChain.SIGNALED);
    chain.setAtomic(0, 0x7fff_0000_5678L, 0xdeadbeef, -7, 0x1122334455667788L);
    MemorySegment request = send(chain, 0);
    assertThat(ibv_send_wr.opcode(request)).isEqualTo(Verbs.IBV_WR_ATOMIC_CMP_AND_SWP());
    MemorySegment atomic = ibv_send_wr.wr.atomic(ibv_send_wr.wr(request));
    assertThat(ibv_send_wr.wr.atomic.remote_addr(atomic)).isEqualTo(0x7fff_0000_5678L);
    assertThat(ibv_send_wr.wr.atomic.compare_add(atomic)).isEqualTo(-7);
    assertThat(ibv_send_wr.wr.atomic.swap(atomic)).isEqualTo(0x1122334455667788L);
    assertThat(ibv_send_wr.wr.atomic.rkey(atomic)).isEqualTo(0xdeadbeef);
  }

  @Test
  void immediateDataIsInNetworkByteOrder() {
    SendChain chain = sends(1);
    chain.setImmediate(0, 0x01020304);
    byte[] bytes =
        send(chain, 0).asSlice(ibv_send_wr.imm_data$offset(), 4).toArray(ValueLayout.JAVA_BYTE);
    assertThat(bytes).containsExactly(1, 2, 3, 4);
    assertThat(
            send(chain, 0)
                .get(
                    ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN),
                    ibv_send_wr.imm_data$offset()))
        .isEqualTo(0x01020304);
  }

  @Test
  void aSendIsEditedInPlace() {
    SendChain chain = new SendChain(3);
    chain.set(1, SendOperation.SEND, 1, 0x1000, 10, 5, SendChain.SIGNALED);
    MemorySegment request = send(chain, 1);
    MemorySegment next = ibv_send_wr.next(request);
    MemorySegment pieces = ibv_send_wr.sg_list(request);

    chain.set(1, SendOperation.RDMA_READ, 2, 0, 0, 0, 0);
    assertThat(ibv_send_wr.wr_id(request)).isEqualTo(2);
    assertThat(ibv_send_wr.num_sge(request)).isZero();
    assertThat(ibv_send_wr.opcode(request)).isEqualTo(4);
    assertThat(ibv_send_wr.send_flags(request)).isZero();

    chain.set(1, SendOperation.SEND, 3, 0x2000, 20, 6, SendChain.INLINE);
    assertThat(ibv_send_wr.num_sge(request)).isEqualTo(1);
    assertThat(ibv_send_wr.send_flags(request)).isEqualTo(8);
    assertThat(ibv_send_wr.next(request)).isEqualTo(next).isNotEqualTo(MemorySegment.NULL);
    assertThat(ibv_send_wr.sg_list(request)).isEqualTo(pieces);
    assertThat(ibv_sge.addr(pieces.reinterpret(ibv_sge.sizeof()))).isEqualTo(0x2000);
  }

  @Test
  void aReceiveHasTheFieldsThatWereSet() {
    ReceiveChain chain = new ReceiveChain(2);
    chain.set(1, 42, 0x3000, 4096, 9);
    long address = chain.cut(1, 1);
    chain.join(1, 1);
    MemorySegment request = MemorySegment.ofAddress(address).reinterpret(ibv_recv_wr.sizeof());
    assertThat(ibv_recv_wr.wr_id(request)).isEqualTo(42);
    assertThat(ibv_recv_wr.num_sge(request)).isEqualTo(1);
    MemorySegment piece = ibv_recv_wr.sg_list(request).reinterpret(ibv_sge.sizeof());
    assertThat(ibv_sge.addr(piece)).isEqualTo(0x3000);
    assertThat(ibv_sge.length(piece)).isEqualTo(4096);
    assertThat(ibv_sge.lkey(piece)).isEqualTo(9);

    chain.set(1, 43, 0, 0, 0);
    assertThat(ibv_recv_wr.num_sge(request)).isZero();
  }

  private static MemorySegment send(SendChain chain, int index) {
    long address = chain.cut(index, 1);
    chain.join(index, 1);
    return MemorySegment.ofAddress(address).reinterpret(ibv_send_wr.sizeof());
  }
}
