// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Writes the result of each test to a file, and the progress to standard output once a minute. It
 * is active if the system property {@value #FILE_PROPERTY} names the file, as in {@code
 * build-support/console-tests.sh}.
 *
 * <p>A line of the file has the fields outcome, milliseconds, name, unique id and the first line of
 * the failure's message, separated by tabs. A container, such as a class, has a line only if it has
 * failed or was skipped itself. Each line is written at once, so that the results before a crash of
 * the JVM are known.
 */
public final class ResultLog implements TestExecutionListener {

  private static final String FILE_PROPERTY = "ferrule.tests.results";
  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

  private final Map<String, Long> starts = new ConcurrentHashMap<>();
  private final PrintWriter file;
  private final long start = System.nanoTime();
  private int passed;
  private int failed;
  private volatile String current = "none";

  /** Called by the service loader. */
  public ResultLog() {
    String path = System.getProperty(FILE_PROPERTY);
    try {
      file =
          path == null
              ? null
              : new PrintWriter(Files.newBufferedWriter(Path.of(path)), /* autoFlush= */ true);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void testPlanExecutionStarted(TestPlan plan) {
    if (file == null) {
      return;
    }
    long tests = plan.countTestIdentifiers(TestIdentifier::isTest);
    System.out.println("running " + tests + " tests, and the invocations of parameterized tests");
    Thread.ofPlatform().daemon().name("progress").start(this::reportEachMinute);
  }

  /** Marks the results as complete. If the JVM crashes, the line is missing. */
  @Override
  public void testPlanExecutionFinished(TestPlan plan) {
    if (file != null) {
      file.println("ENDED");
    }
  }

  @Override
  public void executionStarted(TestIdentifier test) {
    if (file != null) {
      starts.put(test.getUniqueId(), System.nanoTime());
      if (test.isTest()) {
        current = nameOf(test);
      }
    }
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    if (file != null) {
      System.out.println("skipped " + nameOf(test) + ": " + reason);
      write("SKIPPED", test, reason);
    }
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    if (file == null) {
      return;
    }
    TestExecutionResult.Status status = result.getStatus();
    String message = result.getThrowable().map(Throwable::toString).orElse("");
    synchronized (this) {
      if (status == TestExecutionResult.Status.FAILED) {
        failed++;
      } else if (test.isTest()) {
        passed++;
      }
    }
    if (status != TestExecutionResult.Status.SUCCESSFUL) {
      System.out.println(status.name().toLowerCase() + " " + nameOf(test) + ": " + message);
    }
    if (test.isTest() || status != TestExecutionResult.Status.SUCCESSFUL) {
      write(status.name(), test, message);
    }
  }

  private synchronized void write(String outcome, TestIdentifier test, String message) {
    Long from = starts.remove(test.getUniqueId());
    long millis = from == null ? 0 : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - from);
    file.println(
        String.join(
            "\t",
            List.of(
                outcome,
                Long.toString(millis),
                nameOf(test).replaceAll("\\s+", " "),
                test.getUniqueId(),
                message.strip().replaceAll("\\s+", " "))));
  }

  private void reportEachMinute() {
    for (long minutes = 1; ; minutes++) {
      try {
        TimeUnit.NANOSECONDS.sleep(start + minutes * MINUTE - System.nanoTime());
      } catch (InterruptedException e) {
        return;
      }
      synchronized (this) {
        System.out.println(
            minutes + " min: " + passed + " passed, " + failed + " failed, running " + current);
      }
    }
  }

  /** Returns the test's name, with the arguments of an invocation. */
  private static String nameOf(TestIdentifier test) {
    TestName name = TestName.of(test.getUniqueIdObject());
    boolean isInvocation = !test.getDisplayName().startsWith(name.method());
    return name + (name.method().isEmpty() || !isInvocation ? "" : " " + test.getDisplayName());
  }
}
