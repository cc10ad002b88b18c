// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Executes the steps of devices and the network on one thread, and selects each from the ready ones
 * by a random number. A step belongs to one queue of a queue pair or to one id, and does the work
 * of that object in order. A delayed step waits for a number of other steps, or for as many short
 * pauses.
 */
final class FabricScheduler {

  /** One kind of work of one object. */
  static final class Step {

    private final StepKind kind;
    private final BooleanSupplier ready;
    private final Runnable action;
    private long notBefore;
    private boolean delayed;

    Step(StepKind kind, BooleanSupplier ready, Runnable action) {
      this.kind = kind;
      this.ready = ready;
      this.action = action;
    }
  }

  private static final long IDLE_MILLIS = 10;
  private static final long PAUSE_NANOS = 20_000;

  private final FabricObjects objects;
  private final SplittableRandom random;
  private final Object monitor;
  private final Set<Step> steps = new LinkedHashSet<>();
  private final double[] probabilities = new double[StepKind.values().length];
  private final int[] delays = new int[StepKind.values().length];
  private long now; // in steps
  private boolean idle;
  private boolean stopped;

  FabricScheduler(Object monitor, FabricObjects objects, SplittableRandom random) {
    this.monitor = monitor;
    this.objects = objects;
    this.random = random;
  }

  void start() {
    Thread.ofPlatform().daemon().name("simulated fabric").start(this::run);
  }

  void add(Step step) {
    steps.add(step);
  }

  void remove(Step step) {
    steps.remove(step);
  }

  /** Delays steps of a kind with a probability, each by 1 to {@code most} steps. */
  void delay(StepKind kind, double probability, int most) {
    probabilities[kind.ordinal()] = probability;
    delays[kind.ordinal()] = most;
  }

  /** Wakes the thread, which looks for ready steps. */
  void wake() {
    if (idle) {
      monitor.notifyAll();
    }
  }

  private void run() {
    boolean pausing = false;
    while (true) {
      if (pausing) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
      synchronized (monitor) {
        if (stopped) {
          return;
        }
        now++;
        pausing = !turn();
      }
    }
  }

  /** Executes a step, or waits if none is ready. Returns false if all ready steps are delayed. */
  private boolean turn() {
    List<Step> ready = new ArrayList<>();
    boolean anyDelayed = false;
    for (Step step : steps) {
      if (step.ready.getAsBoolean()) {
        if (step.notBefore <= now) {
          ready.add(step);
        } else {
          anyDelayed = true;
        }
      }
    }
    if (!ready.isEmpty()) {
      execute(ready.get(random.nextInt(ready.size())));
    } else if (!anyDelayed) {
      sleep();
    }
    return !ready.isEmpty() || !anyDelayed;
  }

  private void execute(Step step) {
    int kind = step.kind.ordinal();
    if (!step.delayed && random.nextDouble() < probabilities[kind]) {
      step.delayed = true;
      step.notBefore = now + 1 + random.nextInt(delays[kind]);
      return;
    }
    step.delayed = false;
    try {
      step.action.run();
    } catch (RuntimeException | AssertionError e) {
      objects.problem(new AssertionError("in the fabric: " + e, e));
    }
  }

  private void sleep() {
    idle = true;
    try {
      monitor.wait(IDLE_MILLIS);
    } catch (InterruptedException e) {
      stopped = true;
    }
    idle = false;
  }

  void stop() {
    stopped = true;
    monitor.notifyAll();
  }
}
