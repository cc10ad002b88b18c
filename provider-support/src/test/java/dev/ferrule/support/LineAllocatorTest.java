// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class LineAllocatorTest {

  private record Run(int line, int count) {}

  @Property(tries = 300)
  void shouldNeverAllocateALineTwiceAndFindEveryFreeRun(
      @ForAll @IntRange(min = 1, max = 300) int some, @ForAll boolean many, @ForAll long seed) {
    int lines = many ? 20 * some : some;
    Random random = new Random(seed);
    LineAllocator allocator = new LineAllocator(lines);
    BitSet taken = new BitSet(lines);
    List<Run> runs = new ArrayList<>();
    for (int step = 0; step < 400; step++) {
      if (runs.isEmpty() || random.nextInt(3) > 0) {
        int count = 1 + random.nextInt(random.nextBoolean() ? 8 : lines);
        int limit = random.nextBoolean() ? Integer.MAX_VALUE : 1 + random.nextInt(lines);
        int line = allocator.allocate(count, limit);
        if (line == LineAllocator.NONE) {
          assertThat(hasRun(taken, Math.min(limit, lines), count)).isFalse();
        } else {
          assertThat(line + count).isLessThanOrEqualTo(Math.min(limit, lines));
          assertThat(taken.get(line, line + count).isEmpty()).isTrue();
          taken.set(line, line + count);
          runs.add(new Run(line, count));
        }
      } else {
        Run run = runs.remove(random.nextInt(runs.size()));
        if (random.nextBoolean()) {
          allocator.commit(run.line);
          assertThat(allocator.isCommitted(run.line)).isTrue();
        }
        allocator.release(run.line);
        assertThat(allocator.isCommitted(run.line)).isFalse();
        taken.clear(run.line, run.line + run.count);
      }
      assertThat(allocator.runs()).isEqualTo(runs.size());
    }
  }

  private static boolean hasRun(BitSet taken, int end, int count) {
    int start = taken.nextClearBit(0);
    while (start + count <= end) {
      int next = taken.nextSetBit(start);
      if (next < 0 || next >= start + count) {
        return true;
      }
      start = taken.nextClearBit(next);
    }
    return false;
  }

  @Test
  void shouldAllocateTheLowestFreeLineSoThatFewLinesStayInTheCache() {
    LineAllocator allocator = new LineAllocator(1024);
    int first = allocator.allocate(4, Integer.MAX_VALUE);
    int second = allocator.allocate(4, Integer.MAX_VALUE);
    allocator.release(first);

    assertThat(first).isZero();
    assertThat(second).isEqualTo(4);
    assertThat(allocator.allocate(4, Integer.MAX_VALUE)).isEqualTo(first);
  }

  @Test
  void shouldNotMistakeALineForTheStartOfAMessage() {
    LineAllocator allocator = new LineAllocator(64);
    int line = allocator.allocate(4, Integer.MAX_VALUE);
    assertThat(allocator.isCommitted(line)).as("claimed, not sent").isFalse();
    allocator.commit(line);

    assertThat(allocator.isCommitted(line)).isTrue();
    assertThat(allocator.isCommitted(line + 1)).isFalse();
    assertThat(allocator.isCommitted(-1)).isFalse();
    assertThat(allocator.isCommitted(64)).isFalse();
    assertThat(allocator.isCommitted(Integer.MAX_VALUE)).isFalse();
  }

  /** The peer chooses the number of lines. */
  @Test
  void takesMemoryForTheLinesInFlightOnly() {
    int lines = 1 << 24;
    LineAllocator allocator = new LineAllocator(lines);
    for (int i = 0; i < 100; i++) {
      int first = allocator.allocate(1, Integer.MAX_VALUE);
      int second = allocator.allocate(10, Integer.MAX_VALUE);
      allocator.release(first);
      allocator.release(second);
    }
    assertThat(allocator.heapBytes()).isLessThan(5_000);
    assertThat(allocator.isCommitted(lines - 1)).isFalse();

    assertThat(allocator.allocate(lines, Integer.MAX_VALUE)).isZero();
    assertThat(allocator.allocate(1, Integer.MAX_VALUE)).isEqualTo(LineAllocator.NONE);
  }
}
