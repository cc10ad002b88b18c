// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ConcurrentLineAllocatorTest {

  private static final int ALL = Integer.MAX_VALUE;
  private static final int NONE = ConcurrentLineAllocator.NONE;

  private record Run(int line, int count) {}

  /** For one thread, the allocator behaves as a plain set of lines. */
  @Property(tries = 200)
  void runsAreTakenAtTheLowestPlaceAndNeverOverlap(
      @ForAll @IntRange(min = 1, max = 400) int some, @ForAll boolean many, @ForAll long seed) {
    int lines = many ? 25 * some : some;
    ConcurrentLineAllocator allocator = new ConcurrentLineAllocator(lines);
    BitSet taken = new BitSet();
    List<Run> runs = new ArrayList<>();
    Random random = new Random(seed);
    for (int step = 0; step < 500; step++) {
      if (random.nextInt(5) < 3) {
        int count = 1 + random.nextInt(random.nextBoolean() ? 4 : many ? 5_000 : 150);
        int limit = random.nextBoolean() ? ALL : 1 + random.nextInt(lines);
        int line = allocator.allocate(count, limit);
        int end = Math.min(limit, lines);
        if (line == NONE) {
          assertThat(firstFit(taken, count, end)).isEqualTo(NONE);
          assertThat(limit == ALL && allocator.hasRun(count)).isFalse();
        } else {
          assertThat(line + count).isLessThanOrEqualTo(end);
          assertThat(taken.get(line, line + count).isEmpty()).isTrue();
          taken.set(line, line + count);
          runs.add(new Run(line, count));
        }
      } else if (!runs.isEmpty()) {
        Run run = runs.remove(random.nextInt(runs.size()));
        if (random.nextBoolean()) {
          allocator.commit(run.line);
          assertThat(allocator.release(run.line)).isTrue();
          assertThat(allocator.release(run.line)).as("freed twice").isFalse();
        } else {
          assertThat(allocator.release(run.line)).as("freed without being sent").isFalse();
          allocator.abort(run.line);
        }
        taken.clear(run.line, run.line + run.count);
      }
      assertThat(allocator.countClaimed(line -> true)).isEqualTo(runs.size());
    }
  }

  private static int firstFit(BitSet taken, int count, int end) {
    for (int line = 0; line + count <= end; line++) {
      if (taken.get(line, line + count).isEmpty()) {
        return line;
      }
    }
    return NONE;
  }

  @Test
  void aRunMayBeAsLongAsAllLines() {
    for (int lines : new int[] {1, 63, 64, 65, 128, 1_000}) {
      ConcurrentLineAllocator allocator = new ConcurrentLineAllocator(lines);
      assertThat(allocator.allocate(lines + 1, ALL)).isEqualTo(NONE);
      assertThat(allocator.allocate(lines, ALL)).isZero();
      assertThat(allocator.allocate(1, ALL)).isEqualTo(NONE);
      allocator.abort(0);
      assertThat(allocator.allocate(lines, ALL)).isZero();
    }
  }

  @Test
  void onlyTheFirstLineOfARunCanBeReleased() {
    ConcurrentLineAllocator allocator = new ConcurrentLineAllocator(100);
    allocator.allocate(10, ALL);
    allocator.commit(0);
    for (int line : new int[] {-1, 1, 9, 10, 99, 100, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      assertThat(allocator.release(line)).as("line %d", line).isFalse();
    }
    assertThat(allocator.release(0)).isTrue();
  }

  /** Another thread takes a line of the run while the first is allocating it. */
  @Test
  void anAllocationThatMeetsATakenLineRollsBackAndSearchesFurther() {
    int[] rolledBack = {0};
    ConcurrentLineAllocator allocator =
        new ConcurrentLineAllocator(1_000) {
          private boolean once;

          @Override
          void partlyTaken() {
            if (!once) {
              once = true;
              assertThat(allocate(40, ALL)).as("the run of the other thread").isEqualTo(64);
            }
          }

          @Override
          void rolledBack() {
            rolledBack[0]++;
          }
        };

    assertThat(allocator.allocate(200, ALL)).isEqualTo(104);
    assertThat(rolledBack[0]).isEqualTo(1);
    assertThat(allocator.allocate(64, ALL)).as("the lines that were rolled back").isZero();
  }

  /** As a thread that stops there forever would. */
  @Test
  void aThreadThatStopsDuringAnAllocationKeepsOnlyItsLines() {
    class Stopped extends RuntimeException {
      private static final long serialVersionUID = 1L;
    }

    boolean[] stop = {true};
    ConcurrentLineAllocator allocator =
        new ConcurrentLineAllocator(1_000) {
          @Override
          void partlyTaken() {
            if (stop[0]) {
              throw new Stopped();
            }
          }
        };
    try {
      allocator.allocate(500, ALL);
    } catch (Stopped e) {
      stop[0] = false;
    }

    assertThat(allocator.allocate(1_000 - 64, ALL)).isEqualTo(64);
    assertThat(allocator.countClaimed(line -> true)).as("lines are missing").isEqualTo(NONE);
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void noTwoThreadsEverHaveTheSameLineAndAllAreFreed() {
    int lines = 700;
    ConcurrentLineAllocator allocator = new ConcurrentLineAllocator(lines);
    AtomicIntegerArray owners = new AtomicIntegerArray(lines);
    List<CompletableFuture<Void>> threads = new ArrayList<>();
    for (int thread = 1; thread <= 4; thread++) {
      int me = thread;
      threads.add(
          CompletableFuture.runAsync(
              () -> takeAndGiveBack(allocator, owners, me), task -> new Thread(task).start()));
    }
    threads.forEach(CompletableFuture::join);

    assertThat(allocator.countClaimed(line -> true)).isZero();
    assertThat(allocator.allocate(lines, ALL)).isZero();
  }

  private static void takeAndGiveBack(
      ConcurrentLineAllocator allocator, AtomicIntegerArray owners, int me) {
    Random random = new Random(me);
    List<Run> mine = new ArrayList<>();
    for (int step = 0; step < 100_000; step++) {
      int count = 1 + random.nextInt(random.nextInt(4) == 0 ? 200 : 6);
      int line = mine.size() < 5 ? allocator.allocate(count, ALL) : NONE;
      if (line != NONE) {
        for (int i = line; i < line + count; i++) {
          assertThat(owners.compareAndSet(i, 0, me)).as("line %d is free", i).isTrue();
        }
        mine.add(new Run(line, count));
      } else if (!mine.isEmpty()) {
        giveBack(allocator, owners, mine.remove(random.nextInt(mine.size())), random.nextBoolean());
      }
    }
    mine.forEach(run -> giveBack(allocator, owners, run, true));
  }

  private static void giveBack(
      ConcurrentLineAllocator allocator, AtomicIntegerArray owners, Run run, boolean committed) {
    for (int i = run.line; i < run.line + run.count; i++) {
      owners.set(i, 0);
    }
    if (committed) {
      allocator.commit(run.line);
      assertThat(allocator.release(run.line)).isTrue();
    } else {
      allocator.abort(run.line);
    }
  }

  /** The peer says how many lines there are. */
  @Test
  void memoryIsTakenForTheLinesInFlightOnly() {
    int lines = 1 << 24;
    ConcurrentLineAllocator allocator = new ConcurrentLineAllocator(lines);
    for (int i = 0; i < 100; i++) {
      int first = allocator.allocate(1, ALL);
      int second = allocator.allocate(10, ALL);
      allocator.abort(first);
      allocator.abort(second);
    }
    assertThat(allocator.release(lines - 1)).isFalse();
    assertThat(allocator.heapBytes()).isLessThan(60_000);

    assertThat(allocator.allocate(lines, ALL)).isZero();
    assertThat(allocator.hasRun(1)).isFalse();
    assertThat(allocator.countClaimed(line -> true)).isEqualTo(1);
  }
}
