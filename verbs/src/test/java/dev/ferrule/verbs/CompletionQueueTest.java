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
import dev.ferrule.verbs.libibverbs.ibv_wc;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class CompletionQueueTest {

  private final FakeDevice device = new FakeDevice();
  private final CompletionQueue queue = device.completionQueue();

  /** Makes the device write completions. */
  @SafeVarargs
  private void complete(Consumer<MemorySegment>... completions) {
    when(device.verbs.pollCq(
            MemorySegment.ofAddress(FakeDevice.POLL_CQ),
            queue.address(),
            CompletionQueue.BATCH,
            address()))
        .thenAnswer(call -> {
          for (int i = 0; i < completions.length; i++) {
            completions[i].accept(
                MemorySegment.ofAddress(call.<Long>getArgument(3) + i * ibv_wc.sizeof())
                    .reinterpret(ibv_wc.sizeof()));
          }
          return completions.length;
        });
  }

  /** Returns the address to which the queue polls completions. */
  private long address() {
    long[] address = new long[1];
    when(device.verbs.pollCq(any(), anyLong(), anyInt(), anyLong()))
        .thenAnswer(call -> {
          address[0] = call.getArgument(3);
          return 0;
        });
    assertThat(queue.poll(1)).isZero();
    return address[0];
  }

  @Test
  void aReceiveIsReadAsTheDeviceWroteIt() {
    complete(
        first -> first.fill((byte) 0xff),
        second -> {
          ibv_wc.wr_id(second, 0x8000_0000_0000_0001L);
          ibv_wc.status(second, 0);
          ibv_wc.opcode(second, 129); // IBV_WC_RECV_RDMA_WITH_IMM
          ibv_wc.byte_len(second, 100);
          ibv_wc.qp_num(second, 0xabcdef);
          ibv_wc.wc_flags(second, 2);
          second.set(
              ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN),
              ibv_wc.imm_data$offset(),
              0x01020304);
        });
    assertThat(queue.poll(CompletionQueue.BATCH)).isEqualTo(2);
    assertThat(queue.workRequestId(1)).isEqualTo(0x8000_0000_0000_0001L);
    assertThat(queue.isSuccess(1)).isTrue();
    assertThat(queue.status(1)).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(queue.isReceive(1)).isTrue();
    assertThat(queue.length(1)).isEqualTo(100);
    assertThat(queue.hasImmediate(1)).isTrue();
    assertThat(queue.immediate(1)).isEqualTo(0x01020304);
    assertThat(queue.queuePairNumber(1)).isEqualTo(0xabcdef);
  }

  @Test
  void aSendIsNotAReceive() {
    complete(completion -> ibv_wc.opcode(completion, 2)); // IBV_WC_RDMA_READ
    queue.poll(CompletionQueue.BATCH);
    assertThat(queue.isReceive(0)).isFalse();
    assertThat(queue.hasImmediate(0)).isFalse();
  }

  @Test
  void aFailureHasItsIdStatusAndVendorError() {
    complete(completion -> {
      completion.fill((byte) 0xee); // the other fields are undefined then
      ibv_wc.wr_id(completion, 7);
      ibv_wc.status(completion, 13);
      ibv_wc.vendor_err(completion, 0x81);
      ibv_wc.qp_num(completion, 77);
    });
    assertThat(queue.poll(CompletionQueue.BATCH)).isEqualTo(1);
    assertThat(queue.isSuccess(0)).isFalse();
    assertThat(queue.workRequestId(0)).isEqualTo(7);
    assertThat(queue.status(0)).isEqualTo(CompletionStatus.RNR_RETRY_EXCEEDED);
    assertThat(queue.status(0).text()).contains("RNR");
    assertThat(queue.vendorError(0)).isEqualTo(0x81);
    assertThat(queue.queuePairNumber(0)).isEqualTo(77);
  }

  @Test
  void theCompletionsOfAWholeBatchAreRead() {
    Consumer<MemorySegment>[] all = batch();
    complete(all);
    assertThat(queue.poll(CompletionQueue.BATCH)).isEqualTo(CompletionQueue.BATCH);
    for (int i = 0; i < CompletionQueue.BATCH; i++) {
      assertThat(queue.workRequestId(i)).isEqualTo(i);
      assertThat(queue.length(i)).isEqualTo(1000 + i);
    }
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static Consumer<MemorySegment>[] batch() {
    Consumer[] all = new Consumer[CompletionQueue.BATCH];
    for (int i = 0; i < all.length; i++) {
      int number = i;
      all[i] =
          (Consumer<MemorySegment>)
              completion -> {
                ibv_wc.wr_id(completion, number);
                ibv_wc.byte_len(completion, 1000 + number);
              };
    }
    return all;
  }

  @Test
  void pollingADeviceThatIsGoneReturnsANegativeErrno() {
    device.errno = 5;
    assertThat(queue.poll(1)).isEqualTo(-5);
    assertThat(queue.requestNotification()).isEqualTo(-5);
  }

  @Test
  void notificationsAreRequestedByTheFunctionOfTheDevice() {
    assertThat(queue.requestNotification()).isZero();
    verify(device.verbs)
        .reqNotifyCq(MemorySegment.ofAddress(FakeDevice.REQ_NOTIFY_CQ), queue.address(), 0);
  }

  @Test
  void anUnknownStatusIsAGeneralError() {
    assertThat(CompletionStatus.of(-1)).isEqualTo(CompletionStatus.GENERAL_ERROR);
    assertThat(CompletionStatus.of(22)).isEqualTo(CompletionStatus.GENERAL_ERROR);
    assertThat(CompletionStatus.of(1000)).isEqualTo(CompletionStatus.GENERAL_ERROR);
  }

  @Test
  void everyStatusHasItsOwnText() {
    Set<String> texts = new HashSet<>();
    Arrays.stream(CompletionStatus.values())
        .map(CompletionStatus::text)
        .filter(text -> !text.contains("end-to-end context error"))
        .forEach(text -> assertThat(texts.add(text)).as(text).isTrue());
  }

  @Test
  void aQueueIsCreatedWithAChannelOrWithoutOne() {
    CompletionChannel channel = device.completionChannel();
    device.context().createCompletionQueue(64, channel, 4711);
    verify(device.verbs).createCq(device.contextAddress(), 64, 4711, channel.address(), 0);
    device.context().createCompletionQueue(32, null, 1);
    verify(device.verbs).createCq(device.contextAddress(), 32, 1, 0, 0);
  }

  @Test
  void anEventIsAcknowledgedAndItsKeyReturned() {
    when(device.verbs.getCqEvent(anyLong(), any(), any()))
        .thenAnswer(call -> {
          call.<MemorySegment>getArgument(1).set(ValueLayout.JAVA_LONG, 0, 0x2002);
          call.<MemorySegment>getArgument(2).set(ValueLayout.JAVA_LONG, 0, 4711);
          return 0;
        });
    assertThat(device.completionChannel().nextEvent()).hasValue(4711);
    verify(device.verbs).ackCqEvents(0x2002, 1);
  }

  @Test
  void aChannelWithoutEventIsEmpty() {
    CompletionChannel channel = device.completionChannel();
    assertThat(channel.descriptor()).isEqualTo(44);
    device.errno = Errno.EAGAIN;
    assertThat(channel.nextEvent()).isEmpty();
    device.errno = Errno.EINTR;
    assertThat(channel.nextEvent()).isEmpty();
    verify(device.verbs, never()).ackCqEvents(anyLong(), anyInt());
  }
}
