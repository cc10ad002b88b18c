// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.Credentials;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.PosixException;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.posix.SharedMapping;
import dev.ferrule.sm.endpoint.PassedMemory;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.rma.RmaLayout;
import dev.ferrule.support.Fuzzer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The descriptors in the memory that a peer passes, which decide where everything in it is. */
class SharedRingFuzzTest {

  private static final RingLayout LAYOUT = new RingLayout(12, 128, 8_000);
  private static final SharedRing.OnDemand ON_DEMAND =
      new SharedRing.OnDemand(2, 8 << 10, 16 << 10);
  private static final int RMA_DESCRIPTOR = 64;
  private static final int MAGIC_AND_VERSION = 12;

  @Test
  void memoryIsMappedIfEverythingThatItDescribesIsInIt() {
    try (SealedFile file = SharedRing.createFile(LAYOUT, ON_DEMAND)) {
      SharedRing peers =
          SharedRing.create(file, LAYOUT, ON_DEMAND, false, 0, null, SealedFile.Limits.NONE);
      SharedMapping mapping = peers.mapping();
      MemorySegment start = mapping.view().asSlice(0, RingLayout.DESCRIPTOR_SIZE);
      MemorySegment rma = mapping.view().asSlice(LAYOUT.ringSize(), RMA_DESCRIPTOR);
      byte[] valid = new byte[RingLayout.DESCRIPTOR_SIZE + RMA_DESCRIPTOR];
      MemorySegment.ofArray(valid).asSlice(0, RingLayout.DESCRIPTOR_SIZE).copyFrom(start);
      MemorySegment.ofArray(valid).asSlice(RingLayout.DESCRIPTOR_SIZE).copyFrom(rma);
      byte[] validStart = rma.asSlice(0, MAGIC_AND_VERSION).toArray(ValueLayout.JAVA_BYTE);

      new Fuzzer("memory that a peer of sm passes", 1_000)
          .permits(PosixException.class) // as mmap(2) of such a file; callers name the connection
          .bytes(
              List.of(valid),
              bytes -> {
                MemorySegment input = MemorySegment.ofArray(bytes);
                int head = Math.min(bytes.length, RingLayout.DESCRIPTOR_SIZE);
                int tail = Math.min(bytes.length - head, RMA_DESCRIPTOR);
                start.fill((byte) 0).asSlice(0, head).copyFrom(input.asSlice(0, head));
                rma.fill((byte) 0).asSlice(0, tail).copyFrom(input.asSlice(head, tail));
                SharedRing attached = attach(file);
                assertWithin(attached);
                assertThat(rma.toArray(ValueLayout.JAVA_BYTE)).startsWith(validStart);
                assertThat(rma.get(ValueLayout.JAVA_LONG, RmaLayout.DESCRIPTOR_GENERATION))
                    .isEqualTo(attached.generation());
                attached.retire();
                return true;
              });
      Reference.reachabilityFence(mapping);
    }
  }

  /** With another error, a caller would report that this side lacks a resource. */
  private static SharedRing attach(SealedFile file) {
    try {
      return SharedRing.attach(
              new PassedMemory(file, Credentials.own()), descriptor -> true, SealedFile.Limits.NONE)
          .orElseThrow();
    } catch (PosixException e) {
      assertThat(e.errno()).as(e.getMessage()).isEqualTo(Errno.EINVAL);
      throw e;
    }
  }

  /** Slices of the mapping's view are checked by the JDK. */
  private static void assertWithin(SharedRing ring) {
    RingLayout layout = ring.layout();
    assertThat(ring.ring().byteSize()).isEqualTo(layout.ringSize());
    assertThat(ring.buffer().byteSize()).isEqualTo(layout.bufferSize());
    for (int lane = 0; lane < ring.lanes(); lane++) {
      assertThat(ring.laneRing(lane).byteSize()).isEqualTo(layout.ringSize());
      assertThat(ring.laneBuffer(lane).byteSize()).isEqualTo(layout.bufferSize());
    }
    long start = ring.mapping().address();
    long end = start + ring.mapping().size();
    assertThat(ring.rma().address()).isBetween(start, end - RmaLayout.SIZE);
    assertThat(ring.rma().bufferSize()).isNotNegative();
    assertThat(ring.rma().bufferAddress()).isBetween(start, end - ring.rma().bufferSize());
    assertThat(ring.rma().allocatable().byteSize()).isBetween(0L, end - start);
    byte ignored = ring.ring().get(ValueLayout.JAVA_BYTE, 0);
  }
}
