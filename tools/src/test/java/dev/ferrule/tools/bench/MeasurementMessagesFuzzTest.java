// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ferrule.ReceiveRegion;
import dev.ferrule.RmaHandle;
import dev.ferrule.Sender;
import dev.ferrule.support.Fuzzer;
import dev.ferrule.tools.support.CommandHandshake;
import dev.ferrule.tools.support.ToolException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

/** The messages of a client of {@code ferrule serve}, and the answers of the server. */
class MeasurementMessagesFuzzTest {

  private static final int INPUTS = 5_000;

  private static byte[] sent(Consumer<Sender> send) {
    Sender sender = mock(Sender.class);
    byte[][] result = new byte[1][];
    doAnswer(
            call -> {
              MemorySegment message = call.getArgument(0);
              result[0] = message.toArray(ValueLayout.JAVA_BYTE);
              return null;
            })
        .when(sender)
        .send(any(MemorySegment.class));
    send.accept(sender);
    return result[0];
  }

  /** Returns a region whose segment is the first element of the array. */
  private static ReceiveRegion region(MemorySegment[] message) {
    ReceiveRegion region = mock(ReceiveRegion.class, Mockito.withSettings().stubOnly());
    when(region.segment()).thenAnswer(call -> message[0]);
    return region;
  }

  @Test
  void aRoundIsWithinItsLimitsOrRefused() {
    MemorySegment[] message = new MemorySegment[1];
    ReceiveRegion region = region(message);
    new Fuzzer("rounds of ferrule serve", INPUTS)
        .permits(RoundRefusedException.class)
        .bytes(
            List.of(
                sent(new Round(Round.Kind.ECHO, 1_000, 64, true, 0)::send),
                sent(Round.of(Round.Kind.CALLS, Long.MAX_VALUE, 1 << 30)::send)),
            bytes -> {
              message[0] = MemorySegment.ofArray(bytes);
              Round round = Round.read(region);
              assertThat(round.count()).isNotNegative();
              assertThat(round.size()).isNotNegative();
              assertThat(round.pauseNanos()).isNotNegative();
              return true;
            });
  }

  @Test
  void anAnswerIsReadOrReported() {
    MemorySegment[] message = new MemorySegment[1];
    ReceiveRegion region = region(message);
    byte[] refusal = sent(sender -> Refusal.send(sender, new RoundRefusedException("\033[2Jno\n")));
    byte[] handle = new byte[RmaHandle.MAX_BYTES];
    new Fuzzer("answers of ferrule serve", INPUTS)
        .permits(ToolException.class)
        .explainsIn(10_000)
        .allocates(2 << 20) // by the escaping
        .bytes(
            List.of(
                sent(new RoundReply(true, 10, 640, 0)::send),
                sent(new ExposureMessage(RmaHandle.of(handle), 1, 2)::send),
                refusal,
                Arrays.copyOf(refusal, 64 << 10)),
            bytes -> {
              message[0] = MemorySegment.ofArray(bytes);
              if (Arrays.hashCode(bytes) % 2 == 0) {
                RoundReply reply = RoundReply.read(region);
                assertThat(reply.wrong()).isBetween(0L, reply.messages());
                assertThat(reply.bytes()).isNotNegative();
              } else {
                ExposureMessage exposure = ExposureMessage.read(region);
                assertThat(exposure.handle()).isNotNull();
                assertThat(exposure.pid()).isBetween(1L, (long) Integer.MAX_VALUE);
              }
              return true;
            });
  }

  @Test
  void aPayloadIsAcceptedOrRejected() {
    LatencySummary summary = new LatencySummary(1, 2, 3, 4, 5, 6, 7, 8, 9);
    new Fuzzer("payloads of ferrule serve", INPUTS)
        .permits(ToolException.class)
        .bytes(
            List.of(
                CommandHandshake.BENCHMARK.payload(new OneWayRequest(7, 1).toBytes()),
                CommandHandshake.BENCHMARK.payload(
                    new OneWayReport(10, 0, summary, summary).toBytes()),
                CommandHandshake.STREAM.payload()),
            bytes -> {
              byte[] more = CommandHandshake.BENCHMARK.more(bytes).orElse(null);
              if (more == null) {
                return false;
              }
              if (OneWayRequest.of(more).isEmpty()) {
                OneWayReport report = OneWayReport.of(more);
                assertThat(report.wrong()).isBetween(0L, report.messages());
                assertThat(report.receive().max()).isFinite();
                assertThat(report.receive().max() >= 0).isTrue(); // includes -0.0
                assertThat(report.free().p999()).isNotEqualTo(Double.POSITIVE_INFINITY);
              }
              return true;
            });
  }
}
