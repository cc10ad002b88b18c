// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jetbrains.lincheck.Lincheck;
import org.jspecify.annotations.Nullable;

/**
 * Explores the interleavings of the threads of a scenario by Lincheck, the same ones in each run.
 * Memory is sequentially consistent there.
 *
 * <p>Lincheck does not see which objects a lambda expression captures, and does not interleave
 * accesses to objects that only lambda expressions share. A scenario therefore uses anonymous
 * classes. Lincheck permits LockSupport.park to return spuriously, so a lost wake-up is found only
 * if the thread waits by {@link Permit}.
 */
public final class Interleavings {

  private static final int INTERLEAVINGS =
      Integer.getInteger("ferrule.lincheck.interleavings", 500);

  /** Fewer than any scenario has. Lincheck may end much earlier without a reason. */
  private static final int LEAST = 30;

  /** The runs of the scenario, in native memory, which Lincheck does not restore. */
  private static final MemorySegment EXPLORED = Arena.global().allocate(ValueLayout.JAVA_INT);

  private Interleavings() {}

  /**
   * Runs a scenario in many interleavings. Fails if it throws in one of them, if its threads wait
   * for each other, or if one interleaving takes Lincheck longer than 30 s.
   *
   * @param scenario creates all objects that its threads share; run by the first of the threads
   */
  public static void explore(Runnable scenario) {
    exploreShare(1, scenario);
  }

  /**
   * Runs a scenario as {@link #explore} does, in fewer interleavings, as each takes longer.
   *
   * @param share the share of the interleavings is one in this many
   * @param scenario creates all objects that its threads share; run by the first of the threads
   */
  public static void exploreShare(int share, Runnable scenario) {
    EXPLORED.set(ValueLayout.JAVA_INT, 0, 0);
    Lincheck.runConcurrentTest(
        INTERLEAVINGS / share,
        () -> {
          EXPLORED.set(ValueLayout.JAVA_INT, 0, EXPLORED.get(ValueLayout.JAVA_INT, 0) + 1);
          scenario.run();
        });
    int explored = EXPLORED.get(ValueLayout.JAVA_INT, 0);
    if (explored < Math.min(LEAST, INTERLEAVINGS / share)) {
      throw new AssertionError("interleavings explored: " + explored);
    }
  }

  /** The steps of one thread. Not an interface, so that no lambda expression implements it. */
  public abstract static class Steps {

    /** Creates steps. */
    protected Steps() {}

    /**
     * Does the steps.
     *
     * @throws InterruptedException never
     */
    public abstract void run() throws InterruptedException;
  }

  private static final class Runner extends Thread {
    private final Steps steps;
    private @Nullable Throwable failure;

    Runner(Steps steps) {
      this.steps = steps;
    }

    @Override
    public void run() {
      try {
        steps.run();
      } catch (Throwable e) { // Lincheck ignores a throwable that ends a thread
        failure = e;
      }
    }
  }

  /**
   * Runs steps in a thread each, and waits for their end. Throws if one of them throws.
   *
   * @param first run by the current thread
   * @param others run by further ones
   */
  public static void runAll(Steps first, Steps... others) {
    Runner[] threads = new Runner[others.length];
    for (int i = 0; i < others.length; i++) {
      threads[i] = new Runner(others[i]);
      threads[i].start();
    }
    try {
      first.run();
      for (Thread thread : threads) { // Lincheck does not know the join of a subclass
        thread.join();
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    for (Runner thread : threads) {
      if (thread.failure != null) {
        throw new AssertionError(thread.failure);
      }
    }
  }

  /**
   * Fails a scenario.
   *
   * @param condition what must be true
   * @param message what is wrong otherwise
   */
  public static void check(boolean condition, String message) {
    if (!condition) {
      throw new AssertionError(message);
    }
  }
}
