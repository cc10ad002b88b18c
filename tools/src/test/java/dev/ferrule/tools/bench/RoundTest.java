// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ferrule.ReceiveRegion;
import dev.ferrule.Sender;
import dev.ferrule.tools.support.ToolException;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.mockito.ArgumentCaptor;

class RoundTest {

  @Property(tries = 100)
  void aRoundIsReadAsItWasSent(
      @ForAll Round.Kind kind,
      @ForAll @LongRange(min = 0) long count,
      @ForAll @IntRange int size,
      @ForAll boolean verify) {
    Round round = new Round(kind, count, size, verify, count % 2 == 0 ? 0 : 1_000);
    assertThat(Round.read(received(sent(round::send)))).isEqualTo(round);
  }

  @Property(tries = 100)
  void aReplyIsReadAsItWasSent(
      @ForAll boolean done,
      @ForAll @LongRange(min = 0) long messages,
      @ForAll @LongRange(min = 0) long bytes,
      @ForAll @LongRange(min = 0) long wrong) {
    RoundReply reply = new RoundReply(done, messages, bytes, Math.min(wrong, messages));
    assertThat(RoundReply.read(received(sent(reply::send)))).isEqualTo(reply);
  }

  @Property(tries = 200)
  void bytesThatAreNotARoundAreRefused(@ForAll byte[] bytes) {
    assertThatThrownBy(() -> Round.read(received(MemorySegment.ofArray(bytes))))
        .isInstanceOf(RoundRefusedException.class);
  }

  @Test
  void anInvalidKindOrCountOrSizeIsRefused() {
    for (long offset : new long[] {4, 15, 19}) {
      MemorySegment message = sent(Round.of(Round.Kind.ECHO, 5, 5)::send);
      message.set(java.lang.foreign.ValueLayout.JAVA_BYTE, offset, (byte) 0xff);
      assertThatThrownBy(() -> Round.read(received(message)))
          .isInstanceOf(RoundRefusedException.class);
    }
  }

  @Test
  void numbersThatNoServerCountsAreReported() {
    for (RoundReply reply :
        new RoundReply[] {
          new RoundReply(true, -1, 0, 0),
          new RoundReply(true, 1, -1, 0),
          new RoundReply(true, 1, 0, -1),
          new RoundReply(true, 1, 0, 2)
        }) {
      MemorySegment message = sent(reply::send);
      assertThatThrownBy(() -> RoundReply.read(received(message)))
          .isInstanceOf(ToolException.class)
          .hasMessageContaining("an invalid round reply");
    }
  }

  private static MemorySegment sent(Consumer<Sender> send) {
    Sender sender = mock(Sender.class);
    send.accept(sender);
    ArgumentCaptor<MemorySegment> message = ArgumentCaptor.forClass(MemorySegment.class);
    verify(sender).send(message.capture());
    return message.getValue();
  }

  private static ReceiveRegion received(MemorySegment message) {
    ReceiveRegion region = mock(ReceiveRegion.class);
    when(region.segment()).thenReturn(message);
    return region;
  }
}
