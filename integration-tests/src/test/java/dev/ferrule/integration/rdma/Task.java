// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.support.Waiter;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** An operation on a thread of its own, concurrent to the test. */
final class Task<T> {

  /** Longer than any operation takes on an emulated machine whose host is busy. */
  static final Duration PATIENCE = Duration.ofMinutes(2);

  private final FutureTask<T> future;
  private final Thread thread;

  private Task(Callable<T> work) {
    future = new FutureTask<>(work);
    thread = Thread.ofPlatform().daemon().name("test-task").start(future);
  }

  static <T> Task<T> start(Callable<T> work) {
    return new Task<>(work);
  }

  boolean isDone() {
    return future.isDone();
  }

  T result() {
    try {
      return outcome(PATIENCE);
    } catch (ExecutionException e) {
      throw new AssertionError("failed: " + e.getCause(), e.getCause());
    }
  }

  /** Waits for the exception that ends it. */
  Throwable failure() {
    return failure(PATIENCE);
  }

  private Throwable failure(Duration limit) {
    try {
      throw new AssertionError("succeeded with " + outcome(limit));
    } catch (ExecutionException e) {
      return e.getCause();
    }
  }

  private T outcome(Duration limit) throws ExecutionException {
    try {
      return future.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      AssertionError error = new AssertionError("still busy after " + limit + "; see the cause");
      Throwable where = new Throwable("where the thread is");
      where.setStackTrace(thread.getStackTrace());
      error.initCause(where);
      throw error;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Waits until the thread waits in the library; by its stack, as a spinning thread is RUNNABLE.
   */
  void awaitWaiting(String what) {
    await(
        what + " waits",
        () -> {
          if (isDone()) {
            throw new AssertionError(what + " did not wait", failure(Duration.ZERO));
          }
          return Arrays.stream(thread.getStackTrace())
              .anyMatch(frame -> frame.getClassName().equals(Waiter.class.getName()));
        });
  }

  /** Waits for a condition. */
  static void await(String what, BooleanSupplier condition) {
    await(() -> what, condition);
  }

  /** Waits for a condition, described after it was not met. */
  static void await(Supplier<String> what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("timed out waiting until " + what.get());
      }
      pause(Duration.ofMillis(1));
    }
  }

  /** Sleeps; for polling loops, and where the passing of time is tested. */
  static void pause(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
