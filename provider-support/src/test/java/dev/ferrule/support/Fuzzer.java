// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import com.sun.management.ThreadMXBean;
import dev.ferrule.spi.PlainText;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/**
 * Passes many inputs, most of them invalid, to code that reads what another process or the user has
 * written. Each input must be answered, within a time limit, by a result or by an exception of a
 * permitted type, whose text is short and without control characters, and must not make the code
 * allocate more than a limit. Each input has a seed of its own, which a failure names.
 *
 * <p><b>Threads:</b> the inputs are read in a daemon thread of their own, since a thread that loops
 * cannot be ended. The test's thread waits for it, and fails if an input takes too long; the daemon
 * thread then continues until the JVM ends.
 */
public final class Fuzzer {

  private static final String INPUTS_PROPERTY = "ferrule.fuzz.inputs";
  private static final String SEED_PROPERTY = "ferrule.fuzz.seed";

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** A text may quote the refused input four times, with each character escaped as six. */
  private static final int TEXT_PER_CHARACTER = 24;

  private static final long ALLOCATED_PER_BYTE = 64;

  /** Mostly for escaping a character in an exception's text. */
  private static final long ALLOCATED_PER_CHARACTER = 2_048;

  /** This many inputs must contain both valid and invalid ones. */
  private static final int ENOUGH = 1_000;

  private static final int ATTEMPTS = 4;

  private static final int MOST_SHOWN = 4_000;

  /** The number of checks within the time limit of an input. */
  private static final int CHECKS = 100;

  /** Reads an input. */
  @FunctionalInterface
  public interface Target<T> {

    /**
     * Reads an input.
     *
     * @param input the input
     * @return whether it was accepted
     * @throws Exception of a permitted type, if the input is invalid
     */
    boolean accepts(T input) throws Exception;
  }

  private record Limits(int text, long allocated) {}

  private final String name;
  private final int inputs;
  private long allocatedBytes = 64 << 10;
  private int textLength = 1_000;
  private boolean quotes;
  private Duration limit = Duration.ofSeconds(10);
  private final List<Class<? extends Exception>> permitted = new ArrayList<>();

  /**
   * Creates a fuzzer that permits no exception.
   *
   * @param name what is read
   * @param inputs the number of inputs, unless a property sets another
   */
  public Fuzzer(String name, int inputs) {
    this.name = name;
    this.inputs = Integer.getInteger(INPUTS_PROPERTY, inputs);
  }

  /** Permits exceptions of a type. */
  public Fuzzer permits(Class<? extends Exception> type) {
    permitted.add(type);
    return this;
  }

  /** Permits text that quotes the input unescaped; the caller escapes it. */
  public Fuzzer quotes() {
    quotes = true;
    return this;
  }

  /**
   * Sets the number of bytes that the thread may allocate for one input, beside a multiple of its
   * length.
   */
  public Fuzzer allocates(long bytes) {
    allocatedBytes = bytes;
    return this;
  }

  /** Sets the maximum length of an exception's text, beside a multiple of the input's length. */
  public Fuzzer explainsIn(int characters) {
    textLength = characters;
    return this;
  }

  /** Sets the time within which each input must be answered, by default 10 s. */
  public Fuzzer answersIn(Duration time) {
    limit = time;
    return this;
  }

  /**
   * Passes changed copies of samples.
   *
   * @param samples valid inputs, of various kinds
   * @param target reads an input
   */
  public void bytes(List<byte[]> samples, Target<byte[]> target) {
    run(
        random -> new Mutator(random).bytes(samples),
        Fuzzer::hex,
        bytes -> new Limits(textLength, allocatedBytes + ALLOCATED_PER_BYTE * bytes.length),
        target);
  }

  /**
   * Passes changed copies of samples.
   *
   * @param samples valid inputs, of various kinds
   * @param target reads an input
   */
  public void text(List<String> samples, Target<String> target) {
    run(
        random -> new Mutator(random).text(samples),
        Fuzzer::shown,
        text ->
            new Limits(
                textLength + TEXT_PER_CHARACTER * text.length(),
                allocatedBytes + ALLOCATED_PER_CHARACTER * text.length()),
        target);
  }

  /**
   * Passes changed copies of addresses, except for those that are no URI.
   *
   * @param samples valid addresses, of various kinds
   * @param target reads an address
   */
  public void addresses(List<String> samples, Target<URI> target) {
    text(
        samples,
        text -> {
          URI uri;
          try {
            uri = new URI(text);
          } catch (URISyntaxException e) {
            return false;
          }
          return target.accepts(uri);
        });
  }

  private static String hex(byte[] bytes) {
    byte[] start = Arrays.copyOf(bytes, Math.min(bytes.length, MOST_SHOWN));
    return bytes.length + " bytes " + HexFormat.of().formatHex(start);
  }

  private static String shown(String text) {
    return text.length()
        + " characters '"
        + PlainText.of(text.substring(0, Math.min(text.length(), MOST_SHOWN)))
        + "'";
  }

  private <T> void run(
      Function<SplittableRandom, T> source,
      Function<T, String> display,
      Function<T, Limits> limitsOf,
      Target<T> target) {
    long start = System.nanoTime();
    Reading<T> reading = new Reading<>(source, display, limitsOf, target);
    FutureTask<Integer> result = new FutureTask<>(reading);
    Thread thread = Thread.ofPlatform().daemon().name("fuzzing " + name).start(result);
    int accepted;
    try {
      accepted = await(result, reading, thread);
    } catch (ExecutionException e) {
      throw reading.failure(reading.at, String.valueOf(e.getCause()), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw reading.failure(reading.at, "interrupted", e);
    } finally {
      reading.isEnded = true;
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    System.out.printf(
        "fuzzing %s: %,d inputs from seed %d, %,d of them accepted, in %.1f s%n",
        name, inputs, reading.first, accepted, seconds);
    if (inputs >= ENOUGH && (accepted == 0 || accepted == inputs)) {
      throw new AssertionError(
          "%s: %s of %s inputs were accepted, so the others are not tested"
              .formatted(name, accepted, inputs));
    }
  }

  /**
   * Waits until all inputs have been read; throws an {@link AssertionError} if one takes too long.
   * The time of an input is the number of checks that find it still being read: while the process
   * is stopped there are none, and a busy machine delays both threads. The processor time of the
   * thread would not show an input that blocks it.
   */
  private int await(FutureTask<Integer> result, Reading<?> reading, Thread thread)
      throws ExecutionException, InterruptedException {
    long last = reading.at;
    int checks = 0;
    while (true) {
      try {
        return result.get(limit.toNanos() / CHECKS, TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        long at = reading.at;
        checks = at == last ? checks + 1 : 0;
        last = at;
        if (checks >= CHECKS) {
          throw late(reading, at, thread);
        }
      }
    }
  }

  private AssertionError late(Reading<?> reading, long seed, Thread thread) {
    Throwable stack = new Throwable("the thread that reads it, " + thread.getState());
    stack.setStackTrace(thread.getStackTrace());
    AssertionError late =
        reading.failure(seed, "no answer within " + limit.toMillis() + " ms", stack);
    // printed as well: the thread may access memory that the test frees, and so end the JVM
    System.err.println(late.getMessage());
    return late;
  }

  /** Reads all inputs; returns the number of those that were accepted. */
  private final class Reading<T> implements Callable<Integer> {

    private final Function<SplittableRandom, T> source;
    private final Function<T, String> display;
    private final Function<T, Limits> limitsOf;
    private final Target<T> target;
    private final long first = Long.getLong(SEED_PROPERTY, 1);

    /** Identifies the input that is being read. */
    private volatile long at = first;

    /** Whether the test has ended, perhaps before this thread. */
    private volatile boolean isEnded;

    private Reading(
        Function<SplittableRandom, T> source,
        Function<T, String> display,
        Function<T, Limits> limitsOf,
        Target<T> target) {
      this.source = source;
      this.display = display;
      this.limitsOf = limitsOf;
      this.target = target;
    }

    @Override
    public Integer call() throws Exception {
      int accepted = 0;
      for (long seed = first; seed - first < inputs && !isEnded; seed++) {
        at = seed;
        T input = source.apply(new SplittableRandom(seed));
        accepted += isAccepted(target, input, limitsOf.apply(input)) ? 1 : 0;
      }
      return accepted;
    }

    /** Derives the input from its seed again, as the code that reads it may have changed it. */
    private AssertionError failure(long seed, String what, Throwable cause) {
      T input = source.apply(new SplittableRandom(seed));
      return new AssertionError(
          "%s: %s, for %s; repeat this input by -D%s=%s -D%s=1"
              .formatted(name, what, display.apply(input), SEED_PROPERTY, seed, INPUTS_PROPERTY),
          cause);
    }
  }

  private <T> boolean isAccepted(Target<T> target, T input, Limits limits) throws Exception {
    boolean isAccepted = false;
    long allocated = Long.MAX_VALUE;
    // a class, or the code of a call, that is loaded allocates as well, but only once
    for (int i = 0; i < ATTEMPTS && allocated > limits.allocated; i++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      isAccepted = isAnsweredByResult(target, input, limits);
      allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
    }
    if (allocated > limits.allocated) {
      throw new AssertionError(allocated + " bytes allocated, more than " + limits.allocated);
    }
    return isAccepted;
  }

  private <T> boolean isAnsweredByResult(Target<T> target, T input, Limits limits)
      throws Exception {
    try {
      return target.accepts(input);
    } catch (Exception e) {
      if (permitted.stream().noneMatch(type -> type.isInstance(e))) {
        throw e;
      }
      String text = String.valueOf(e.getMessage());
      if (text.length() > limits.text || !(quotes || PlainText.of(text).equals(text))) {
        throw new AssertionError(
            "a text of "
                + text.length()
                + " characters of at most "
                + limits.text
                + ": "
                + shown(text),
            e);
      }
      return false;
    }
  }
}
