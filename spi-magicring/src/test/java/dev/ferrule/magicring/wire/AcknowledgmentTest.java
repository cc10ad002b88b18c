// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class AcknowledgmentTest {

  @Property
  void shouldSurviveARoundTripAtAnyOffset(
      @ForAll @IntRange(min = Acknowledgment.ACK, max = Acknowledgment.END) int type,
      @ForAll @IntRange(max = 40) int offset,
      @ForAll int wants,
      @ForAll long messages,
      @ForAll long bytes) {
    byte[] array = new byte[64];
    MemorySegment segment = MemorySegment.ofArray(array);

    Acknowledgment.write(segment, offset, type, wants, messages, bytes);

    assertThat(Acknowledgment.type(segment, offset)).isEqualTo(type);
    assertThat(Acknowledgment.wantsTaken(segment, offset)).isEqualTo(wants);
    assertThat(Acknowledgment.messagesFreed(segment, offset)).isEqualTo(messages);
    assertThat(Acknowledgment.bytesFreed(segment, offset)).isEqualTo(bytes);
    for (int i = 0; i < array.length; i++) {
      if (i < offset || i >= offset + Acknowledgment.SIZE) {
        assertThat(array[i]).isZero();
      }
    }
  }

  @Test
  void shouldBeLittleEndian() {
    byte[] array = new byte[Acknowledgment.SIZE];
    Acknowledgment.write(
        MemorySegment.ofArray(array), 0, Acknowledgment.GOODBYE, 5, 0x0102_0304_0506_0708L, 9);
    assertThat(array)
        .containsExactly(2, 0, 0, 0, 5, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1, 9, 0, 0, 0, 0, 0, 0, 0);
  }

  @Test
  void shouldRejectAnUnknownType() {
    MemorySegment segment = MemorySegment.ofArray(new byte[Acknowledgment.SIZE]);
    for (int type : new int[] {0, 5, 6, 0x80, 0xff}) {
      segment.fill((byte) 0).set(java.lang.foreign.ValueLayout.JAVA_BYTE, 0, (byte) type);
      assertThat(Acknowledgment.type(segment, 0)).isEqualTo(Acknowledgment.NONE);
    }
  }

  @Test
  void shouldRejectNonzeroReservedBytes() {
    MemorySegment segment = MemorySegment.ofArray(new byte[Acknowledgment.SIZE]);
    for (int at = 1; at < Acknowledgment.WANTS_TAKEN; at++) {
      for (int bit = 0; bit < 8; bit++) {
        Acknowledgment.write(segment, 0, Acknowledgment.ACK, 0, 1, 1);
        segment.set(java.lang.foreign.ValueLayout.JAVA_BYTE, at, (byte) (1 << bit));
        assertThat(Acknowledgment.type(segment, 0)).isEqualTo(Acknowledgment.NONE);
      }
    }
  }

  @Property
  void shouldNeverThrowOnRandomBytes(@ForAll @Size(Acknowledgment.SIZE) byte[] bytes) {
    int type = Acknowledgment.type(MemorySegment.ofArray(bytes), 0);
    assertThat(type).isBetween(Acknowledgment.NONE, Acknowledgment.END);
  }
}
