// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The intervals of one measurement, reported to an observer one by one.
 *
 * <p>The counts are those of the measuring thread, taken between two parts of a round, when no
 * message is in flight: no other thread reads a counter, and nothing is added to the measured
 * loops. A part takes a twentieth of an interval, so that an interval ends at most that late. A
 * part that is delayed longer is in one interval as a whole.
 */
final class Intervals {

  /** Reports nothing, and leaves rounds undivided. */
  static final Intervals NONE = new Intervals(Observer.NONE, 0, null, 1, System::nanoTime);

  private static final double NANOS_PER_SECOND = 1e9;
  private static final long PARTS = 20;
  private static final long FIRST_PART = 16;

  private final Observer observer;
  private final int size;
  private final @Nullable String call;
  private final double divisor;
  private final LongSupplier clock;
  private final Histogram times = LatencySummary.newHistogram(); // of the current interval
  private final Histogram allTimes = LatencySummary.newHistogram();
  private final List<Interval> ended = new ArrayList<>();
  private long part = FIRST_PART;
  private long startNanos; // of the measurement
  private long begunNanos; // of the current interval, since the start, as are the next two
  private long dueNanos;
  private long nowNanos;
  private long messages;
  private long measuredNanos;
  private long allMessages;
  private long allMeasuredNanos;

  /**
   * Creates the intervals of a measurement.
   *
   * @param observer determines the length of the intervals, and receives them
   * @param size the length of the messages in bytes
   * @param call what each interval is labelled with, or null
   * @param divisor by which each recorded time is divided: 2 for half of a round trip
   */
  Intervals(Observer observer, int size, @Nullable String call, double divisor) {
    this(observer, size, call, divisor, System::nanoTime);
  }

  Intervals(
      Observer observer, int size, @Nullable String call, double divisor, LongSupplier clock) {
    this.observer = observer;
    this.size = size;
    this.call = call;
    this.divisor = divisor;
    this.clock = clock;
  }

  private boolean areWanted() {
    return observer.intervalNanos() != Observer.NO_INTERVALS;
  }

  /** Starts the first interval. */
  void begin() {
    if (areWanted()) {
      startNanos = clock.getAsLong();
      dueNanos = observer.intervalNanos();
    }
  }

  /**
   * Performs a round, in parts if intervals are wanted. Returns the measured time of all parts in
   * nanoseconds.
   *
   * @param count the number of messages in the round
   * @param work measures a number of messages, and returns the measured time in nanoseconds
   */
  long round(long count, LongUnaryOperator work) {
    return round(count, work, 1);
  }

  /** Performs a round likewise, of that number of messages on each of several connections. */
  long round(long count, LongUnaryOperator work, int connections) {
    if (!areWanted()) {
      return work.applyAsLong(count);
    }
    long nanos = 0;
    for (long left = count; left > 0; ) {
      long now = Math.min(part, left);
      long before = clock.getAsLong();
      long measured = work.applyAsLong(now);
      long after = clock.getAsLong();
      add(now * connections, measured, after - startNanos);
      adapt(now, after - before);
      nanos += measured;
      left -= now;
    }
    return nanos;
  }

  /**
   * Measures for a given time, in parts if intervals are wanted.
   *
   * @param limitNanos the minimum of the time that is spent
   * @param work measures for about a given time in nanoseconds, or less
   */
  Measured until(long limitNanos, LongFunction<Measured> work) {
    long partNanos = areWanted() ? Math.max(1, observer.intervalNanos() / PARTS) : limitNanos;
    Measured all = Measured.NOTHING;
    do {
      long left = limitNanos - all.spentNanos();
      Measured measured = work.apply(Math.min(left, partNanos));
      if (areWanted()) {
        add(measured.messages(), measured.nanos(), clock.getAsLong() - startNanos);
      }
      all = all.plus(measured);
    } while (all.spentNanos() < limitNanos);
    return all;
  }

  /** Records the time of one message of the current part, in nanoseconds. */
  void record(long nanos) {
    if (areWanted()) {
      times.recordValue(nanos);
    }
  }

  /** Adapts the length of a part, which at most doubles. The last part of a round may be short. */
  private void adapt(long done, long nanos) {
    long target = observer.intervalNanos() / PARTS;
    if (done == part || nanos > target) {
      double fitting = done * (double) target / Math.max(1, nanos);
      part = Math.clamp((long) fitting, 1, 2 * done);
    }
  }

  private void add(long count, long measured, long now) {
    messages += count;
    measuredNanos += measured;
    nowNanos = now;
    if (now >= dueNanos) {
      endInterval();
      dueNanos = (now / observer.intervalNanos() + 1) * observer.intervalNanos();
    }
  }

  private void endInterval() {
    Interval interval = interval(begunNanos, messages, measuredNanos, times);
    allMessages += messages;
    allMeasuredNanos += measuredNanos;
    allTimes.add(times);
    times.reset();
    messages = 0;
    measuredNanos = 0;
    begunNanos = nowNanos;
    ended.add(interval);
    observer.interval(interval);
  }

  private Interval interval(long begun, long count, long measured, Histogram histogram) {
    return new Interval(
        size,
        call,
        begun / NANOS_PER_SECOND,
        nowNanos / NANOS_PER_SECOND,
        count,
        count * NANOS_PER_SECOND / Math.max(1, measured),
        histogram.getTotalCount() == 0 ? null : LatencySummary.of(histogram, divisor));
  }

  /** Ends the last interval, which may be shorter, and reports the sum. */
  void end() {
    if (messages > 0) {
      endInterval();
    }
    if (allMessages > 0) {
      observer.sum(interval(0, allMessages, allMeasuredNanos, allTimes));
    }
  }

  /** Returns the intervals that have ended. */
  List<Interval> ended() {
    return List.copyOf(ended);
  }
}
