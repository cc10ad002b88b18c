// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import com.sun.management.ThreadMXBean;
import dev.ferrule.spi.PlainText;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;

/**
 * Passes many inputs, most of them invalid, to code that reads what another process or the user has
 * written. Each input must be answered by a result or by an exception of a permitted type, whose
 * text is short and without control characters, and must not make the code allocate more than a
 * limit. Each input has a seed of its own, which a failure names.
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
    long first = Long.getLong(SEED_PROPERTY, 1);
    long start = System.nanoTime();
    int accepted = 0;
    for (long seed = first; seed - first < inputs; seed++) {
      T input = source.apply(new SplittableRandom(seed));
      try {
        accepted += isAccepted(target, input, limitsOf.apply(input)) ? 1 : 0;
      } catch (Throwable e) { // includes errors, which no input may cause
        throw new AssertionError(
            "%s: %s, for %s; repeat this input by -D%s=%s -D%s=1"
                .formatted(name, e, display.apply(input), SEED_PROPERTY, seed, INPUTS_PROPERTY),
            e);
      }
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    System.out.printf(
        "fuzzing %s: %,d inputs from seed %d, %,d of them accepted, in %.1f s%n",
        name, inputs, first, accepted, seconds);
    if (inputs >= ENOUGH && (accepted == 0 || accepted == inputs)) {
      throw new AssertionError(
          "%s: %s of %s inputs were accepted, so the others are not tested"
              .formatted(name, accepted, inputs));
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
