// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ferrule.posix.RawMemory;
import dev.ferrule.verbs.FakeDevice;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import dev.ferrule.verbs.libibverbs.ibv_send_wr;
import dev.ferrule.verbs.libibverbs.ibv_sge;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A send queue with a protocol whose messages need memory of the peer. */
class SendQueueProtocolTest {

  private static final int UNACKED = 4;
  private static final int MEMORY = 4 * SendQueue.LINE;
  private static final int REPORT_LENGTH = 24;

  /** A posted request. */
  private record Posted(int operation, long address, int length, int key, int flags) {}

  /** A peer with limited memory; a report has {@value #REPORT_LENGTH} bytes that begin with 42. */
  private static final class Bytes implements SendProtocol {

    private int left = 200;
    private boolean reportDue;
    private final List<String> prepared = new ArrayList<>();

    @Override
    public boolean tryReserve(int length) {
      if (length > left) {
        return false;
      }
      left -= length;
      return true;
    }

    @Override
    public int reserveAhead(int length, int most) {
      return 0;
    }

    @Override
    public void unreserve(int length, int count) {
      left += length;
    }

    @Override
    public SendOperation messageOperation() {
      return SendOperation.RDMA_WRITE_WITH_IMMEDIATE;
    }

    @Override
    public void prepare(SendChain chain, int index, int reservedLength, int length) {
      left += reservedLength - length;
      prepared.add(index + ": " + length + " of " + reservedLength);
    }

    @Override
    public boolean isAllBack() {
      return left == 200;
    }

    @Override
    public boolean isReportDue() {
      return reportDue;
    }

    @Override
    public boolean mayReport() {
      return true;
    }

    @Override
    public SendOperation controlOperation() {
      return SendOperation.SEND;
    }

    @Override
    public int prepareReport(SendChain chain, int index, MemorySegment memory, long offset) {
      memory.set(ValueLayout.JAVA_LONG, offset, 42);
      return REPORT_LENGTH;
    }

    @Override
    public boolean saysGoodbye() {
      return true;
    }

    @Override
    public int prepareEnd(SendChain chain, int index, MemorySegment memory, long offset) {
      memory.set(ValueLayout.JAVA_LONG, offset, 44);
      return REPORT_LENGTH;
    }

    @Override
    public int prepareGoodbye(SendChain chain, int index, MemorySegment memory, long offset) {
      memory.set(ValueLayout.JAVA_LONG, offset, 43);
      return REPORT_LENGTH;
    }
  }

  private final FakeDevice device = new FakeDevice();
  private final Bytes protocol = new Bytes();
  private final List<Posted> posted = new ArrayList<>();
  private SendMemory memory;

  @BeforeEach
  void takePosts() {
    device.registrations();
    memory = new SendMemory(device.domain(), device.arena, MEMORY);
    when(device.verbs.postSend(any(), anyLong(), anyLong(), anyLong()))
        .thenAnswer(call -> {
          long request = call.getArgument(2);
          while (request != 0) {
            posted.add(read(request));
            request = RawMemory.getLong(request + ibv_send_wr.next$offset());
          }
          return 0;
        });
  }

  private static Posted read(long request) {
    long piece = RawMemory.getLong(request + ibv_send_wr.sg_list$offset());
    return new Posted(
        RawMemory.getInt(request + ibv_send_wr.opcode$offset()),
        RawMemory.getLong(piece + ibv_sge.addr$offset()),
        RawMemory.getInt(piece + ibv_sge.length$offset()),
        RawMemory.getInt(piece + ibv_sge.lkey$offset()),
        RawMemory.getInt(request + ibv_send_wr.send_flags$offset()));
  }

  private static boolean sendsReport(SendQueue queue) {
    long before = queue.controls().reports();
    queue.controls().sendReport();
    return queue.controls().reports() > before;
  }

  private SendQueue queue(int inline) {
    return new SendQueue(
        new Channel.Parts(
            device.queuePair(),
            device.completionQueue(),
            memory,
            UNACKED,
            inline,
            mock(QueueCallbacks.class)),
        protocol);
  }

  @Test
  void shouldPassTheReservedLengthOfAShorterMessage() {
    Outbox outbox = queue(-1).newOutbox();
    int first = outbox.reserve(100, 100);
    int second = outbox.reserve(64, 64);

    outbox.stage(second, 64, 10);
    outbox.stage(first, 100, 100);
    assertThat(outbox.publish()).isTrue();

    assertThat(protocol.prepared).containsExactly("0: 10 of 64", "1: 100 of 100");
    assertThat(posted).extracting(Posted::length).containsExactly(10, 100);
    assertThat(protocol.left).isEqualTo(200 - 110);
    assertThat(outbox.reserve(MEMORY, MEMORY)).isEqualTo(SendQueue.FULL);
  }

  @Test
  void shouldReserveNothingOfThePeerIfNoLinesAreFree() {
    Outbox outbox = queue(-1).newOutbox();
    int first = outbox.reserve(1, 1);
    int second = outbox.reserve(3 * SendQueue.LINE - 63, 3 * SendQueue.LINE - 63);
    int left = protocol.left;

    assertThat(outbox.reserve(2 * SendQueue.LINE, 2 * SendQueue.LINE)).isEqualTo(SendQueue.FULL);

    assertThat(protocol.left).isEqualTo(left);
    outbox.unreserve(first, 1);
    outbox.unreserve(second, 3 * SendQueue.LINE - 63);
    assertThat(protocol.isAllBack()).isTrue();
  }

  @Test
  void shouldBeFullIfThePeerIsAndReserveNoLines() {
    Outbox outbox = queue(-1).newOutbox();
    protocol.left = 10;

    assertThat(outbox.reserve(11, 11)).isEqualTo(SendQueue.FULL);

    protocol.left = MEMORY;
    assertThat(outbox.reserve(MEMORY, MEMORY)).isZero();
  }

  @Test
  void shouldSendReportsFromLinesAfterThoseOfMessages() {
    SendQueue queue = queue(-1);
    assertThat(sendsReport(queue)).isFalse();
    protocol.reportDue = true;

    assertThat(sendsReport(queue)).isTrue();
    assertThat(queue.controls().sayGoodbye()).isTrue();

    long start = memory.messages().address() + MEMORY;
    int send = 2; // IBV_WR_SEND
    assertThat(posted)
        .containsExactly(
            new Posted(send, start, REPORT_LENGTH, 5, SendChain.SIGNALED),
            new Posted(send, start + SendQueue.LINE, REPORT_LENGTH, 5, SendChain.SIGNALED));
    assertThat(RawMemory.getLong(start)).isEqualTo(42);
    assertThat(RawMemory.getLong(start + SendQueue.LINE)).isEqualTo(43);
  }

  @Test
  void shouldSendShortReportsInline() {
    SendQueue queue = queue(REPORT_LENGTH);
    protocol.reportDue = true;

    queue.controls().sendReport();

    assertThat(posted)
        .extracting(Posted::flags)
        .containsExactly(SendChain.SIGNALED | SendChain.INLINE);
  }

  @Test
  void shouldLimitOutstandingControlMessagesToTheirLines() {
    SendQueue queue = queue(-1);
    protocol.reportDue = true;
    for (int i = 0; i < ControlMessages.SENDS; i++) {
      assertThat(sendsReport(queue)).isTrue();
    }

    assertThat(sendsReport(queue)).isFalse();
    assertThat(queue.controls().sayGoodbye()).isFalse();
    assertThat(posted).hasSize(ControlMessages.SENDS);
  }
}
