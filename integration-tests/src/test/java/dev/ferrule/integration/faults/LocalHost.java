// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs a program in a thread of this process. */
final class LocalHost implements Host {

  private static final int LIMIT_SECONDS = 90;

  private final Program program;
  private final LinkedBlockingQueue<FutureTask<String>> steps = new LinkedBlockingQueue<>();
  private final Thread thread;
  private FutureTask<String> current = new FutureTask<>(() -> "=");

  LocalHost(Program program) {
    this.program = program;
    this.thread = Thread.ofPlatform().daemon().name("program").start(this::work);
  }

  private void work() {
    try {
      while (true) {
        steps.take().run();
      }
    } catch (InterruptedException e) {
      // close() was called
    }
  }

  @Override
  public void begin(String step) {
    current = new FutureTask<>(() -> program.run(step));
    steps.add(current);
  }

  @Override
  public boolean isDone() {
    return current.isDone();
  }

  @Override
  public String answer() {
    try {
      return current.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      List<StackTraceElement> where = Arrays.asList(thread.getStackTrace());
      throw new AssertionError("a step has not ended: " + where, e);
    } catch (InterruptedException | ExecutionException e) {
      throw new AssertionError(e);
    }
  }

  /** Does nothing: the program's thread is idle between steps. */
  @Override
  public void stop() {}

  @Override
  public void resume() {}

  @Override
  public void close() {
    thread.interrupt();
  }
}
