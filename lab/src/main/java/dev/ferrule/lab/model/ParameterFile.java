// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonPrimitive;
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
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The file {@code params.json}: the parameters of each measured provider. Users may edit it; a
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
  private static final EnumSet<Parameter> OPTIONAL =
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

    public PerformanceModel model() {
      return PerformanceModel.of(estimates, acknowledged);
    }

    /**
     * Returns one model for each parameter that has only an upper bound, in which this parameter
     * equals its bound. With all of them at their bounds, a model would be slower than the
     * measurements.
     */
    public List<PerformanceModel> slowest() {
      List<PerformanceModel> models = new ArrayList<>();
      for (Estimate estimate : estimates.values()) {
        if (estimate.source() == Estimate.Source.AT_MOST && estimate.high().isPresent()) {
          Map<Parameter, Estimate> slow = new EnumMap<>(estimates);
          double high = estimate.high().getAsDouble();
          slow.put(
              estimate.parameter(),
              Estimate.bare(estimate.parameter(), high, Estimate.Source.AT_MOST, ""));
          models.add(PerformanceModel.of(slow, acknowledged));
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
   * Reads a file; throws a {@link ToolException} that names the problem and the fix if the file is
   * invalid or cannot be read.
   */
  public static List<Entry> read(Path file) {
    try {
      return parse(file, Files.readString(file));
    } catch (NoSuchFileException e) {
      throw wrong(file, "no such file; 'ferrule evaluate --out FOLDER' writes one", e);
    } catch (AccessDeniedException e) {
      throw wrong(file, "permission denied", e);
    } catch (MalformedInputException e) {
      throw wrong(file, "not a text file", e);
    } catch (IOException e) {
      throw wrong(file, "cannot be read: " + e.getMessage(), e);
    }
  }

  /** Parses a file's text; throws as {@link #read}. */
  static List<Entry> parse(Path file, String text) {
    try {
      JsonElement root = new Gson().fromJson(text, JsonElement.class);
      if (!(root instanceof JsonObject object) || !object.has(PROVIDERS)) {
        throw new MalformedFileException(
            "no \"%s\"; use the params.json of an evaluation", PROVIDERS);
      }
      if (!(object.get(PROVIDERS) instanceof JsonArray providers) || providers.isEmpty()) {
        throw new MalformedFileException(
            "\"%s\" must be a list of objects with \"%s\"", PROVIDERS, PARAMETERS);
      }
      return providers.asList().stream().map(ParameterFile::entry).toList();
    } catch (MalformedFileException e) {
      throw wrong(file, e.getMessage(), e);
    } catch (JsonParseException e) {
      throw wrong(file, "not JSON: " + e.getMessage(), e);
    }
  }

  private static ToolException wrong(Path file, @Nullable String what, Exception cause) {
    return new ToolException(ExitCode.USAGE, file + ": " + what, cause);
  }

  /** Thrown for a file that is not valid. */
  private static final class MalformedFileException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    MalformedFileException(String what, Object... names) {
      super(what.formatted(names));
    }
  }

  private static Entry entry(JsonElement element) {
    if (!(element instanceof JsonObject object)
        || text(object.get(PROVIDER)).isEmpty()
        || !(object.get(PARAMETERS) instanceof JsonObject parameters)) {
      throw new MalformedFileException(
          "each element of \"%s\" needs a \"%s\", such as \"sendrecv\", and an object \"%s\"",
          PROVIDERS, PROVIDER, PARAMETERS);
    }
    String provider = object.get(PROVIDER).getAsString();
    JsonElement acknowledged = object.get(ACKNOWLEDGED);
    if (acknowledged != null
        && !(acknowledged instanceof JsonPrimitive value && value.isBoolean())) {
      throw new MalformedFileException("%s: \"%s\" must be true or false", provider, ACKNOWLEDGED);
    }
    Map<Parameter, Estimate> estimates = new EnumMap<>(Parameter.class);
    parameters
        .asMap()
        .forEach((name, value) -> {
          Parameter parameter =
              Parameter.of(name)
                  .orElseThrow(() ->
                      new MalformedFileException(
                          "%s: unknown parameter '%s'; known are %s",
                          provider, name, symbols(EnumSet.allOf(Parameter.class))));
          estimates.put(parameter, estimate(provider, parameter, value));
        });
    Set<Parameter> missing = EnumSet.complementOf(OPTIONAL);
    missing.removeAll(estimates.keySet());
    if (!missing.isEmpty()) {
      throw new MalformedFileException(
          "%s: missing: %s; add them, such as %s", provider, symbols(missing), EXAMPLE);
    }
    return new Entry(
        provider,
        acknowledged == null || acknowledged.getAsBoolean(),
        estimates,
        text(object.get(NOTE)).orElse(""));
  }

  private static String symbols(Set<Parameter> parameters) {
    return parameters.stream().map(Parameter::symbol).collect(Collectors.joining(", "));
  }

  private static Estimate estimate(String provider, Parameter parameter, JsonElement element) {
    JsonElement value = element instanceof JsonObject object ? object.get(VALUE) : element;
    double number =
        number(value)
            .orElseThrow(() ->
                new MalformedFileException(
                    "%s: %s must be a number of %s, at least 0, not %s; write it as %s",
                    provider, parameter.symbol(), parameter.unit(), value, EXAMPLE));
    if (!(element instanceof JsonObject object)) {
      return Estimate.bare(parameter, number, Estimate.Source.GIVEN, "");
    }
    return new Estimate(
        parameter,
        number,
        optional(provider, parameter, object, "standard_error"),
        optional(provider, parameter, object, "low"),
        optional(provider, parameter, object, "high"),
        source(text(object.get("source")).orElse("")),
        text(object.get(NOTE)).orElse(""));
  }

  private static Estimate.Source source(String name) {
    return Arrays.stream(Estimate.Source.values())
        .filter(source -> source.name().equalsIgnoreCase(name))
        .findFirst()
        .orElse(Estimate.Source.GIVEN);
  }

  private static OptionalDouble optional(
      String provider, Parameter parameter, JsonObject object, String name) {
    OptionalDouble number = number(object.get(name));
    if (number.isEmpty() && object.has(name)) {
      throw new MalformedFileException(
          "%s: \"%s\" of %s must be a number, at least 0, not %s; it may be omitted",
          provider, name, parameter.symbol(), object.get(name));
    }
    return number;
  }

  /** Returns a finite number of at least 0. */
  private static OptionalDouble number(@Nullable JsonElement element) {
    return element instanceof JsonPrimitive value
            && value.isNumber()
            && value.getAsDouble() >= 0
            && Double.isFinite(value.getAsDouble())
        ? OptionalDouble.of(value.getAsDouble())
        : OptionalDouble.empty();
  }

  private static Optional<String> text(@Nullable JsonElement element) {
    return element instanceof JsonPrimitive value && value.isString()
        ? Optional.of(value.getAsString())
        : Optional.empty();
  }
}
