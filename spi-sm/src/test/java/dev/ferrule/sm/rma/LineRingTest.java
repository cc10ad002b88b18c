// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Taking lines around a buffer, and giving them back in order. */
class LineRingTest {

  private static final int LINES = 32;

  private record Run(int first, int count, long end) {

    boolean overlaps(int otherFirst, int otherCount) {
      return first < otherFirst + otherCount && otherFirst < first + count;
    }
  }

  @Test
  void linesThatWereGivenBackAreTakenAgainOnlyAfterAllOthers() {
    LineRing ring = new LineRing(LINES);
    assertThat(ring.take(8)).isZero();
    ring.giveBackUpTo(ring.end());
    assertThat(ring.take(8)).isEqualTo(8);
    ring.giveBackUpTo(ring.end());
    assertThat(ring.take(8)).isEqualTo(16);
    ring.giveBackUpTo(ring.end());
    assertThat(ring.take(8)).isEqualTo(24);
    ring.giveBackUpTo(ring.end());
    assertThat(ring.take(8)).isZero();
  }

  @Test
  void aRunThatDoesNotFitBeforeTheBuffersEndBeginsAtItsStart() {
    LineRing ring = new LineRing(LINES);
    ring.take(20);
    ring.giveBackUpTo(ring.end());
    assertThat(ring.take(16)).isZero();
    assertThat(ring.take(5)).as("the 12 lines at the end are skipped").isEqualTo(LineRing.NONE);
    assertThat(ring.take(4)).isEqualTo(16);
    ring.giveBackUpTo(ring.end());
    assertThat(ring.take(12)).isEqualTo(20);
  }

  @Test
  void theLastRunCanBeRolledBack() {
    LineRing ring = new LineRing(LINES);
    ring.take(20);
    for (int i = 0; i < 100; i++) {
      long before = ring.end();
      assertThat(ring.take(8)).isEqualTo(20);
      ring.giveBackLast(before);
    }
    assertThat(ring.take(12)).isEqualTo(20);
    assertThat(ring.take(1)).isEqualTo(LineRing.NONE);
  }

  /** A step above 0 takes that many lines; 0 gives the oldest run back. */
  @Property
  void noLineIsTakenTwiceAndHalfOfThemCanAlwaysBeTakenOnceAllIsGivenBack(
      @ForAll @Size(max = 200) List<@IntRange(max = LINES / 2) Integer> steps) {
    LineRing ring = new LineRing(LINES);
    Deque<Run> taken = new ArrayDeque<>();
    for (int count : steps) {
      if (count == 0) {
        if (!taken.isEmpty()) {
          ring.giveBackUpTo(taken.removeFirst().end());
        }
        continue;
      }
      int first = ring.take(count);
      if (first == LineRing.NONE) {
        assertThat(taken).isNotEmpty();
        continue;
      }
      assertThat(first).isBetween(0, LINES - count);
      assertThat(taken).noneMatch(run -> run.overlaps(first, count));
      taken.add(new Run(first, count, ring.end()));
    }
  }
}
