// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.ferrule.tools.support.Json;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.OptionalDouble;

/** Formats results as JSON: an array of objects. What was not measured is omitted. */
public final class ResultJson {

  private ResultJson() {}

  /**
   * {@return results as JSON, terminated by a newline}
   *
   * @param results the results
   */
  public static String format(List<Result> results) {
    JsonArray array = new JsonArray();
    results.forEach(result -> array.add(object(result)));
    return Json.format(array);
  }

  private static JsonObject object(Result result) {
    JsonObject object = new JsonObject();
    LatencySummary latency = result.latency();
    Result.Floors floor = result.floor();
    Result.RmaFigures rma = result.rma();
    object.addProperty("provider", result.subject().provider());
    object.addProperty("command", result.command());
    object.addProperty("call", result.call());
    object.addProperty("wait", result.subject().waitStrategy());
    addIfSeveral(object, "connections", result.subject().connections());
    addIfSeveral(object, "threads", result.subject().threads());
    object.addProperty("size_bytes", result.sizeBytes());
    object.addProperty("messages", result.messages());
    if (latency != null) {
      JsonObject times = new JsonObject();
      add(times, "min", latency.min());
      add(times, "p50", latency.p50());
      add(times, "p90", latency.p90());
      add(times, "p99", latency.p99());
      add(times, "p999", latency.p999());
      add(times, "max", latency.max());
      add(times, "mean", latency.mean());
      object.add("latency_ns", times);
    }
    add(object, "floor_ns", floor.lineNanos());
    if (rma == null) {
      add(object, "floor_ratio", result.floorRatio());
    }
    add(object, "ring_ns", floor.ringNanos());
    if (latency != null) {
      add(object, "ring_ratio", result.ringRatio());
    }
    add(object, "messages_per_s", result.messagesPerSecond());
    add(object, "ring_messages_per_s", floor.ringMessagesPerSecond());
    if (latency == null) {
      add(object, "ring_ratio", result.ringRatio());
    }
    add(object, "bytes_per_s", result.bytesPerSecond());
    add(object, "memcpy_bytes_per_s", result.memcpyBytesPerSecond());
    if (rma != null) {
      object.addProperty("path", rma.path());
      object.addProperty("floor", rma.floor());
      add(object, "floor_bytes_per_s", rma.floorBytesPerSecond());
      add(object, "floor_ratio", result.floorRatio());
    }
    return object;
  }

  private static void addIfSeveral(JsonObject object, String name, int count) {
    if (count != 1) {
      object.addProperty(name, count);
    }
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
