// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.ferrule.tools.VersionProvider;
import dev.ferrule.tools.support.Json;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.OptionalDouble;

/**
 * Formats a comparison as a JSON object. Figures that were not measured are omitted.
 *
 * <ul>
 *   <li>{@code ferrule}, {@code java}, {@code start} (ISO 8601, UTC), {@code rounds}, {@code ours}
 *       (a name), {@code load_before}, {@code load_after}
 *   <li>{@code competitors}, an array: {@code name}, {@code version}, and {@code missing} if it
 *       could not be measured
 *   <li>{@code figures}, an array: {@code measure} (such as {@code latency}, {@code rate}, {@code
 *       batch-8}, {@code senders-2} or {@code wake-up}), {@code size_bytes}, {@code name}, {@code
 *       p50_ns}, {@code p99_ns}, {@code floor_ratio} or {@code messages_per_s}, {@code rounds},
 *       {@code line_ns} (the latency of a bare line between the processors in these rounds; if the
 *       processors were migrated there are figures for each placement), {@code moved} (true if they
 *       were migrated during every round), and {@code ours_ratio}, which is Ferrule's median
 *       divided by this one
 * </ul>
 */
public final class ComparisonJson {

  private static final int RATIO_DIGITS = 3;
  private static final int DIGITS = 1;

  private ComparisonJson() {}

  public static String format(Comparison comparison) {
    JsonObject object = new JsonObject();
    object.addProperty("ferrule", VersionProvider.build());
    object.addProperty("java", Runtime.version().toString());
    object.addProperty("start", comparison.start().toString());
    object.addProperty("rounds", comparison.rounds());
    object.addProperty("ours", comparison.ours());
    add(object, "load_before", comparison.loadBefore(), RATIO_DIGITS);
    add(object, "load_after", comparison.loadAfter(), RATIO_DIGITS);
    JsonArray competitors = new JsonArray();
    comparison.competitors().forEach(info -> competitors.add(json(info)));
    object.add("competitors", competitors);
    JsonArray figures = new JsonArray();
    comparison.figures().forEach(figure -> figures.add(figure(figure)));
    object.add("figures", figures);
    return Json.format(object);
  }

  private static JsonObject json(Comparison.CompetitorInfo info) {
    JsonObject object = new JsonObject();
    object.addProperty("name", info.name());
    object.addProperty("version", info.version());
    if (!info.missing().isEmpty()) {
      object.addProperty("missing", info.missing());
    }
    return object;
  }

  private static JsonObject figure(Figure figure) {
    JsonObject object = new JsonObject();
    object.addProperty("measure", figure.measure().toString());
    object.addProperty("size_bytes", figure.sizeBytes());
    object.addProperty("name", figure.competitor());
    String value = figure.measure().isTime() ? "p50_ns" : "messages_per_s";
    add(object, value, OptionalDouble.of(figure.value()), DIGITS);
    add(object, "p99_ns", figure.p99Nanos(), DIGITS);
    object.addProperty("rounds", figure.rounds());
    add(object, "line_ns", figure.lineNanos(), DIGITS);
    if (figure.moved()) {
      object.addProperty("moved", true);
    }
    add(object, "floor_ratio", figure.ofFloor(), RATIO_DIGITS);
    add(object, "ours_ratio", figure.oursToIt(), RATIO_DIGITS);
    return object;
  }

  private static void add(JsonObject object, String name, OptionalDouble value, int digits) {
    if (value.isPresent()) {
      object.addProperty(
          name, BigDecimal.valueOf(value.getAsDouble()).setScale(digits, RoundingMode.HALF_UP));
    }
  }
}
