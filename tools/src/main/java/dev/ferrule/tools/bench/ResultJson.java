// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;

/** Formats results as JSON, as docs/json.md specifies. What was not measured is omitted. */
public final class ResultJson {

  private static final int SECONDS_DIGITS = 3;

  private ResultJson() {}

  /**
   * {@return the properties that all results of a run have in common}
   *
   * @param results the results of one command, at least one
   */
  public static JsonObject properties(List<Result> results) {
    Result first = results.getFirst();
    JsonObject object = new JsonObject();
    object.addProperty("provider", first.subject().provider());
    object.addProperty("wait", first.subject().waitStrategy());
    if (first.rma() == null && first.latency() != null) {
      object.addProperty("method", method(first.command()));
    }
    if (first.latency() == null) {
      object.addProperty("connections", first.subject().connections());
      object.addProperty("threads", first.subject().threads());
    }
    return object;
  }

  private static String method(String command) {
    return switch (command) {
      case Result.LATENCY_CALLS -> "calls";
      case Result.ONE_WAY_CALLS -> "calls-one-way";
      default -> "round-trip";
    };
  }

  /**
   * {@return a result as JSON, without the {@link #properties} of the run}
   *
   * @param result the result
   */
  public static JsonObject object(Result result) {
    JsonObject object = new JsonObject();
    object.addProperty("size_bytes", result.sizeBytes());
    if (result.rma() != null) {
      addAccesses(object, result, result.rma());
    } else if (result.latency() != null) {
      object.addProperty("call", result.call());
      object.addProperty("messages", result.messages());
      object.add("latency_ns", times(result.latency()));
      add(object, "floor_ns", result.floor().lineNanos());
      add(object, "floor_ratio", result.floorRatio());
      add(object, "ring_ns", result.floor().ringNanos());
      add(object, "ring_ratio", result.ringRatio());
    } else {
      object.addProperty("messages", result.messages());
      add(object, "messages_per_s", result.messagesPerSecond());
      add(object, "bytes_per_s", result.bytesPerSecond());
      add(object, "memcpy_bytes_per_s", result.memcpyBytesPerSecond());
      add(object, "floor_ns", result.floor().lineNanos());
      add(object, "ring_messages_per_s", result.floor().ringMessagesPerSecond());
      add(object, "ring_ratio", result.ringRatio());
    }
    if (!result.intervals().isEmpty()) {
      JsonArray intervals = new JsonArray();
      result.intervals().forEach(interval -> intervals.add(object(interval)));
      object.add("intervals", intervals);
    }
    return object;
  }

  private static JsonObject object(Interval interval) {
    String counted = interval.call() == null ? "messages" : "accesses";
    JsonObject object = new JsonObject();
    object.addProperty("start_s", seconds(interval.startSeconds()));
    object.addProperty("end_s", seconds(interval.endSeconds()));
    object.addProperty(counted, interval.messages());
    add(object, counted + "_per_s", interval.messagesPerSecond());
    if (interval.latency() == null || interval.call() != null) {
      add(object, "bytes_per_s", interval.bytesPerSecond());
    }
    if (interval.latency() != null) {
      object.add("latency_ns", times(interval.latency()));
    }
    return object;
  }

  private static BigDecimal seconds(double seconds) {
    return BigDecimal.valueOf(seconds).setScale(SECONDS_DIGITS, RoundingMode.HALF_UP);
  }

  private static void addAccesses(JsonObject object, Result result, Result.RmaFigures figures) {
    object.addProperty("access", result.call());
    object.addProperty("path", figures.path());
    object.addProperty("accesses", result.messages());
    object.add("latency_ns", times(Objects.requireNonNull(result.latency())));
    add(object, "accesses_per_s", result.messagesPerSecond());
    add(object, "bytes_per_s", result.bytesPerSecond());
    object.addProperty("floor", figures.floor());
    add(object, "floor_bytes_per_s", figures.floorBytesPerSecond());
    add(object, "floor_ratio", result.floorRatio());
  }

  private static JsonObject times(LatencySummary latency) {
    JsonObject times = new JsonObject();
    add(times, "min", latency.min());
    add(times, "p50", latency.p50());
    add(times, "p90", latency.p90());
    add(times, "p99", latency.p99());
    add(times, "p999", latency.p999());
    add(times, "max", latency.max());
    add(times, "mean", latency.mean());
    return times;
  }

  private static void add(JsonObject object, String name, double value) {
    if (!Double.isNaN(value)) {
      object.addProperty(name, rounded(value));
    }
  }

  private static void add(JsonObject object, String name, OptionalDouble value) {
    add(object, name, value.orElse(Double.NaN));
  }

  /** Rounds to the significant digits, without an exponent. */
  private static Number rounded(double value) {
    BigDecimal rounded =
        BigDecimal.valueOf(value).setScale(value < 10 ? 2 : 1, RoundingMode.HALF_UP);
    return rounded.stripTrailingZeros().scale() <= 0 ? (Number) rounded.longValue() : rounded;
  }
}
