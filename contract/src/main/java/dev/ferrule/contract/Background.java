// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.fail;

import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A task that runs in a thread of its own while the test continues. */
final class Background<T> {

  /**
   * The number of consecutive checks that have to find the thread inside a call before it counts as
   * waiting there.
   */
  static final int LOOKS = 15;

  private final FutureTask<T> task;
  private final Thread thread;
  private volatile boolean outcomeIsKnown;

  private Background(String name, Callable<T> work) {
    task = new FutureTask<>(work);
    thread = Thread.ofPlatform().daemon().name("contract-" + name).unstarted(task);
  }

  static <T> Background<T> start(String name, Callable<T> work) {
    Background<T> background = new Background<>(name, work);
    background.thread.start();
    return background;
  }

  Thread thread() {
    return thread;
  }

  boolean isDone() {
    return task.isDone();
  }

  /** Waits for the end; rethrows what the task threw. */
  T result() {
    try {
      return outcome();
    } catch (ExecutionException e) {
      throw new AssertionError(thread.getName() + " failed: " + e.getCause(), e.getCause());
    }
  }

  /** Waits for the end, which must be an exception. */
  Throwable failure() {
    try {
      return fail(thread.getName() + " did not fail but returned " + outcome());
    } catch (ExecutionException e) {
      return Objects.requireNonNull(e.getCause());
    }
  }

  /**
   * Waits until the thread is in a method of the library and probably waits there. There is no
   * better evidence: a thread that spins, or that the kernel has put to sleep, is RUNNABLE like any
   * other, and one that was preempted on entry looks the same. A test that uses this must be
   * correct in all of these cases; this only makes it likely that it covers what its name claims.
   * For a sender that has to find no space, {@link SendLoop#awaitBlocked} is exact.
   */
  Background<T> awaitInside(String method) {
    int looks = 0;
    long deadline = System.nanoTime() + Contract.PATIENCE.toNanos();
    while (looks < LOOKS) {
      if (task.isDone()) {
        return fail(
            thread.getName() + " did not wait in " + method + " but ended: " + failureOrResult());
      }
      if (System.nanoTime() > deadline) {
        return fail(
            thread.getName()
                + " does not wait in "
                + method
                + ": "
                + Arrays.toString(thread.getStackTrace()));
      }
      looks = isInside(method) ? looks + 1 : 0;
      Contract.pause(Duration.ofMillis(1));
    }
    return this;
  }

  /** Waits for the end, which may be a result or a failure; returns whether it was in time. */
  boolean endsWithin(Duration timeout) {
    try {
      outcomeIsKnown = thread.join(timeout);
      return outcomeIsKnown;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for " + thread.getName(), e);
    }
  }

  /** Returns what the task threw, unless the test has retrieved it; null if it threw nothing. */
  @Nullable Throwable unknownFailure() {
    if (outcomeIsKnown || task.state() != Future.State.FAILED) {
      return null;
    }
    return task.exceptionNow();
  }

  /** Ends the thread if it is still running after some time; returns whether it was. */
  boolean abandon() {
    try {
      if (thread.join(Contract.PATIENCE)) {
        return false;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    thread.interrupt();
    return true;
  }

  private boolean isInside(String method) {
    StackTraceElement[] stack = thread.getStackTrace();
    for (StackTraceElement frame : stack) {
      if (frame.getClassName().startsWith(Background.class.getPackageName() + ".")) {
        return false;
      }
      if (frame.getMethodName().equals(method)) {
        return true;
      }
    }
    return false;
  }

  private T outcome() throws ExecutionException {
    try {
      T result = task.get(Contract.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      outcomeIsKnown = true;
      return result;
    } catch (ExecutionException e) {
      outcomeIsKnown = true;
      throw e;
    } catch (TimeoutException e) {
      AssertionError error =
          new AssertionError(thread.getName() + " has not ended; the cause shows its stack trace");
      Throwable where = new Throwable("where " + thread.getName() + " is");
      where.setStackTrace(thread.getStackTrace());
      error.initCause(where);
      throw error;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for " + thread.getName(), e);
    }
  }

  private Object failureOrResult() {
    try {
      return String.valueOf(outcome());
    } catch (ExecutionException e) {
      return Objects.requireNonNull(e.getCause());
    }
  }
}
