// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ferrule.Connection;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.Sender;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.support.ToolException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Drives {@link Throughput} with a transport that completes messages only when awaited. */
class ThroughputTest {

  private static final int SIZE = 16;

  private final Connection connection = mock(Connection.class);
  private final Sender sender = mock(Sender.class);
  private long sent;
  private long completed;
  private long mostOutstanding;

  @Property(tries = 60)
  void neverMoreMessagesAreOutstandingThanAllowed(
      @ForAll @IntRange(min = 1, max = 70) int unacked,
      @ForAll @IntRange(min = 1, max = 20) int batch,
      @ForAll @IntRange(min = 0, max = 200) int count) {
    prepare(new RoundReply(true, count, (long) count * SIZE, 0));
    throughput(new Throughput.Flow(unacked, batch, false)).round(count);
    assertThat(sent).isEqualTo(count);
    assertThat(mostOutstanding).isLessThanOrEqualTo(Math.max(unacked, batch));
  }

  @Property(tries = 60)
  void theLimitHoldsWhenOtherConnectionsSendInBetween(
      @ForAll @IntRange(min = 0, max = 70) int unacked,
      @ForAll @IntRange(min = 1, max = 20) int batch,
      @ForAll @IntRange(min = 0, max = 200) int count) {
    prepare(new RoundReply(true, count, (long) count * SIZE, 0));
    Throughput throughput = throughput(new Throughput.Flow(unacked, batch, false));
    throughput.start(count);
    int turn = throughput.messagesPerTurn();
    for (int from = 0; from < count; from += turn) {
      throughput.send(from, Math.min(from + turn, count));
    }
    throughput.finish(count);
    assertThat(sent).isEqualTo(count);
    if (unacked > 0) {
      assertThat(mostOutstanding).isLessThanOrEqualTo(Math.max(unacked, batch));
    }
  }

  @Test
  void aRoundInWhichTheServerReceivedSomethingElseFails() {
    for (RoundReply reply :
        new RoundReply[] {
          new RoundReply(true, 9, 9 * SIZE, 0),
          new RoundReply(true, 10, 10 * SIZE - 1, 0),
          new RoundReply(true, 10, 10 * SIZE, 1)
        }) {
      prepare(reply);
      assertThatThrownBy(() -> throughput(new Throughput.Flow(0, 1, false)).round(10))
          .isInstanceOf(ToolException.class)
          .hasMessageContaining("10 messages were sent");
    }
  }

  @ParameterizedTest
  @CsvSource({"64, 1, 64", "64, 8, 64", "256, 8, 256", "64, 16, 64", "20, 8, 16", "8, 16, 16"})
  void asManyMessagesAreOutstandingAsAllowed(int unacked, int batch, int outstanding) {
    prepare(new RoundReply(true, 1000, 1000L * SIZE, 0));
    throughput(new Throughput.Flow(unacked, batch, false)).round(1000);
    assertThat(mostOutstanding).isEqualTo(outstanding);
  }

  private Throughput throughput(Throughput.Flow flow) {
    return new Throughput(
        new BenchClient(connection, WaitStrategy.ADAPTIVE), Arena.ofAuto(), SIZE, flow);
  }

  private void prepare(RoundReply reply) {
    Receiver receiver = mock(Receiver.class);
    ReceiveRegion region = mock(ReceiveRegion.class);
    MemorySegment message = encoded(reply);
    when(connection.uri()).thenReturn(URI.create("test:/connection"));
    when(connection.sender()).thenReturn(sender);
    when(connection.receiver()).thenReturn(receiver);
    when(receiver.receive()).thenReturn(region);
    when(region.segment()).thenReturn(message);
    when(sender.send(any(), anyLong(), anyLong())).thenAnswer(call -> send());
    doAnswer(call -> completed = Math.max(completed, call.getArgument(0, Long.class)))
        .when(sender)
        .await(anyLong());
    when(sender.stage(any(), anyLong(), anyLong())).thenAnswer(call -> send());
    sent = 0; // the preparation has sent some
    completed = 0;
    mostOutstanding = 0;
  }

  private long send() {
    sent++;
    mostOutstanding = Math.max(mostOutstanding, sent - completed);
    return sent;
  }

  private static MemorySegment encoded(RoundReply reply) {
    MemorySegment[] message = new MemorySegment[1];
    Sender encoder = mock(Sender.class);
    when(encoder.send(any(MemorySegment.class)))
        .thenAnswer(call -> {
          message[0] = call.getArgument(0);
          return 1L;
        });
    reply.send(encoder);
    return message[0];
  }
}
