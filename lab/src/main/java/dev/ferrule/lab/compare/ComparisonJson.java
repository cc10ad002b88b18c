// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.ferrule.tools.JsonDocument;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.OptionalDouble;

/** Formats a comparison as JSON, as docs/json.md specifies. What was not measured is omitted. */
public final class ComparisonJson {

  private static final int RATIO_DIGITS = 3;
  private static final int DIGITS = 1;

  private ComparisonJson() {}

  public static String format(Comparison comparison) {
    JsonDocument document = new JsonDocument("ferrule.compare/1", comparison.start());
    JsonObject object = document.properties();
    object.addProperty("rounds", comparison.rounds());
    object.addProperty("ours", comparison.ours());
    add(object, "load_before", comparison.loadBefore(), RATIO_DIGITS);
    add(object, "load_after", comparison.loadAfter(), RATIO_DIGITS);
    JsonArray competitors = new JsonArray();
    comparison.competitors().forEach(info -> competitors.add(json(info)));
    object.add("competitors", competitors);
    comparison.figures().forEach(figure -> document.results().add(figure(figure)));
    return document.format();
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
