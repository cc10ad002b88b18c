// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Json;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.MalformedInputException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The file {@code params.json}: the parameters of each provider measured. It may be edited; a
 * parameter may be a bare number.
 */
public final class ParameterFile {

  private static final String PROVIDERS = "providers";
  private static final String PROVIDER = "provider";
  private static final String ACKNOWLEDGED = "acknowledged";
  private static final String PARAMETERS = "parameters";
  private static final String VALUE = "value";
  private static final String NOTE = "note";
  private static final MathContext DIGITS = new MathContext(5);

  /** Parameters that may be omitted from a file, and are then 0. */
  private static final Set<Parameter> OPTIONAL =
      EnumSet.of(Parameter.BYTE_ALONE, Parameter.DOORBELL);

  private static final String EXAMPLE = "\"L\": 1900 or \"L\": {\"value\": 1900}";

  private ParameterFile() {}

  /**
   * The parameters of one provider.
   *
   * @param note their origin and quality; may be empty
   */
  public record Entry(
      String provider, boolean acknowledged, Map<Parameter, Estimate> estimates, String note) {

    /** {@return the model with these parameters} */
    public PerformanceModel model() {
      Map<Parameter, Double> values = new EnumMap<>(Parameter.class);
      estimates.forEach((parameter, estimate) -> values.put(parameter, estimate.value()));
      return new PerformanceModel(values, acknowledged);
    }

    /**
     * Returns models in which a parameter that is only bounded is as slow as its bound: each such
     * parameter by itself, as all of them at once would be slower than the measurements.
     */
    public List<PerformanceModel> slowest() {
      List<PerformanceModel> models = new ArrayList<>();
      for (Estimate estimate : estimates.values()) {
        if (estimate.source() == Estimate.Source.AT_MOST && estimate.high().isPresent()) {
          Map<Parameter, Double> values = new EnumMap<>(model().values());
          values.put(estimate.parameter(), estimate.high().getAsDouble());
          models.add(new PerformanceModel(values, acknowledged));
        }
      }
      return models;
    }
  }

  public static String format(List<Entry> entries) {
    JsonArray providers = new JsonArray();
    for (Entry entry : entries) {
      JsonObject parameters = new JsonObject();
      for (Parameter parameter : Parameter.values()) {
        Estimate estimate = entry.estimates().get(parameter);
        if (estimate != null) {
          parameters.add(parameter.symbol(), object(estimate));
        }
      }
      JsonObject provider = new JsonObject();
      provider.addProperty(PROVIDER, entry.provider());
      provider.addProperty(ACKNOWLEDGED, entry.acknowledged());
      if (!entry.note().isEmpty()) {
        provider.addProperty(NOTE, entry.note());
      }
      provider.add(PARAMETERS, parameters);
      providers.add(provider);
    }
    JsonObject file = new JsonObject();
    file.add(PROVIDERS, providers);
    return Json.format(file);
  }

  private static JsonObject object(Estimate estimate) {
    JsonObject object = new JsonObject();
    object.addProperty(VALUE, rounded(estimate.value()));
    object.addProperty("unit", estimate.parameter().unit());
    object.addProperty("source", estimate.source().name().toLowerCase(Locale.ROOT));
    add(object, "standard_error", estimate.standardError());
    add(object, "low", estimate.low());
    add(object, "high", estimate.high());
    if (!estimate.note().isEmpty()) {
      object.addProperty(NOTE, estimate.note());
    }
    return object;
  }

  private static void add(JsonObject object, String name, OptionalDouble value) {
    value.ifPresent(number -> object.addProperty(name, rounded(number)));
  }

  private static Number rounded(double value) {
    BigDecimal rounded = new BigDecimal(value).round(DIGITS).stripTrailingZeros();
    return rounded.scale() <= 0 ? (Number) rounded.longValue() : rounded;
  }

  /**
   * Reads a file; one that cannot be read, or is invalid, is a {@link ToolException} that names the
   * problem and the fix.
   */
  public static List<Entry> read(Path file) {
    String text;
    try {
      text = Files.readString(file);
    } catch (NoSuchFileException e) {
      throw wrong(file, "no such file; 'ferrule evaluate --out FOLDER' writes one", e);
    } catch (AccessDeniedException e) {
      throw wrong(file, "permission denied", e);
    } catch (MalformedInputException e) {
      throw wrong(file, "not a text file", e);
    } catch (IOException e) {
      throw wrong(file, "cannot be read: " + e.getMessage(), e);
    }
    JsonElement root;
    try {
      root = new Gson().fromJson(text, JsonElement.class);
    } catch (JsonParseException e) {
      throw wrong(file, "not JSON: " + e.getMessage(), e);
    }
    if (root == null || !root.isJsonObject() || !root.getAsJsonObject().has(PROVIDERS)) {
      throw wrong(file, "no \"" + PROVIDERS + "\"; use the params.json of an evaluation");
    }
    JsonElement providers = root.getAsJsonObject().get(PROVIDERS);
    if (!providers.isJsonArray() || providers.getAsJsonArray().isEmpty()) {
      throw wrong(
          file, "\"" + PROVIDERS + "\" must be a list of objects with \"" + PARAMETERS + "\"");
    }
    List<Entry> entries = new ArrayList<>();
    for (JsonElement provider : providers.getAsJsonArray()) {
      entries.add(entry(file, provider));
    }
    return entries;
  }

  private static Entry entry(Path file, JsonElement element) {
    if (!element.isJsonObject()
        || !isString(element.getAsJsonObject().get(PROVIDER))
        || !isObject(element.getAsJsonObject().get(PARAMETERS))) {
      throw wrong(
          file,
          "each element of \""
              + PROVIDERS
              + "\" needs a \""
              + PROVIDER
              + "\", such as \"sendrecv\", and an object \""
              + PARAMETERS
              + "\"");
    }
    JsonObject object = element.getAsJsonObject();
    String provider = object.get(PROVIDER).getAsString();
    JsonElement acknowledged = object.get(ACKNOWLEDGED);
    if (acknowledged != null
        && !(acknowledged.isJsonPrimitive() && acknowledged.getAsJsonPrimitive().isBoolean())) {
      throw wrong(file, provider + ": \"" + ACKNOWLEDGED + "\" must be true or false");
    }
    Map<Parameter, Estimate> estimates = new EnumMap<>(Parameter.class);
    object
        .getAsJsonObject(PARAMETERS)
        .asMap()
        .forEach((name, value) -> {
          Parameter parameter =
              Parameter.of(name).orElseThrow(() -> wrong(file, provider + unknown(name)));
          estimates.put(parameter, estimate(file, provider, parameter, value));
        });
    List<String> missing =
        Arrays.stream(Parameter.values())
            .filter(parameter -> !OPTIONAL.contains(parameter))
            .filter(parameter -> !estimates.containsKey(parameter))
            .map(Parameter::symbol)
            .toList();
    if (!missing.isEmpty()) {
      throw wrong(
          file,
          provider + ": missing: " + String.join(", ", missing) + "; add them, such as " + EXAMPLE);
    }
    return new Entry(
        provider,
        acknowledged == null || acknowledged.getAsBoolean(),
        estimates,
        isString(object.get(NOTE)) ? object.get(NOTE).getAsString() : "");
  }

  private static String unknown(String name) {
    return ": unknown parameter '"
        + name
        + "'; known are "
        + Arrays.stream(Parameter.values())
            .map(Parameter::symbol)
            .collect(Collectors.joining(", "));
  }

  private static Estimate estimate(
      Path file, String provider, Parameter parameter, JsonElement element) {
    boolean bare = !element.isJsonObject();
    JsonElement value = bare ? element : element.getAsJsonObject().get(VALUE);
    double number = number(value);
    if (!(number >= 0) || Double.isInfinite(number)) {
      throw wrong(
          file,
          provider
              + ": "
              + parameter.symbol()
              + " must be a number of "
              + parameter.unit()
              + ", at least 0, not "
              + value
              + "; write it as "
              + EXAMPLE);
    }
    if (bare) {
      return Estimate.bare(parameter, number, Estimate.Source.GIVEN, "");
    }
    JsonObject object = element.getAsJsonObject();
    return new Estimate(
        parameter,
        number,
        optional(file, provider, parameter, object, "standard_error"),
        optional(file, provider, parameter, object, "low"),
        optional(file, provider, parameter, object, "high"),
        source(object.get("source")),
        isString(object.get(NOTE)) ? object.get(NOTE).getAsString() : "");
  }

  private static Estimate.Source source(JsonElement element) {
    if (isString(element)) {
      for (Estimate.Source source : Estimate.Source.values()) {
        if (source.name().equalsIgnoreCase(element.getAsString())) {
          return source;
        }
      }
    }
    return Estimate.Source.GIVEN;
  }

  private static OptionalDouble optional(
      Path file, String provider, Parameter parameter, JsonObject object, String name) {
    if (!object.has(name)) {
      return OptionalDouble.empty();
    }
    double number = number(object.get(name));
    if (!(number >= 0) || Double.isInfinite(number)) {
      throw wrong(
          file,
          provider
              + ": \""
              + name
              + "\" of "
              + parameter.symbol()
              + " must be a number, at least 0, not "
              + object.get(name)
              + "; it may be omitted");
    }
    return OptionalDouble.of(number);
  }

  private static double number(JsonElement element) {
    return element != null && element.isJsonPrimitive() && element.getAsJsonPrimitive().isNumber()
        ? element.getAsDouble()
        : Double.NaN;
  }

  private static boolean isString(JsonElement element) {
    return element != null && element.isJsonPrimitive() && element.getAsJsonPrimitive().isString();
  }

  private static boolean isObject(JsonElement element) {
    return element != null && element.isJsonObject();
  }

  private static ToolException wrong(Path file, String what) {
    return new ToolException(ExitCode.USAGE, file + ": " + what);
  }

  private static ToolException wrong(Path file, String what, Exception cause) {
    return new ToolException(ExitCode.USAGE, file + ": " + what, cause);
  }
}
