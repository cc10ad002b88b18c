// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class BufferRingTest {

  @Test
  void buffersAreTakenInFifoOrder() {
    BufferRing ring = new BufferRing(3);
    for (int i = 0; i < 20; i += 2) {
      assertThat(ring.isEmpty()).isTrue();
      ring.add(i);
      ring.add(i + 1);
      assertThat(ring.isEmpty()).isFalse();
      assertThat(ring.poll()).isEqualTo(i);
      assertThat(ring.poll()).isEqualTo(i + 1);
      assertThat(ring.poll()).isEqualTo(-1);
    }
  }

  @Test
  void allBuffersFitAndExcessOnesAreDetected() {
    for (int capacity = 1; capacity < 70; capacity++) {
      BufferRing ring = new BufferRing(capacity);
      for (int i = 0; i < capacity; i++) {
        ring.add(i);
      }
      for (int i = 0; i < capacity; i++) {
        assertThat(ring.poll()).isEqualTo(i);
      }
    }
    BufferRing ring = new BufferRing(4);
    for (int i = 0; i < 4; i++) {
      ring.add(i);
    }
    assertThatThrownBy(() -> ring.add(4)).isInstanceOf(IllegalStateException.class);
  }
}
