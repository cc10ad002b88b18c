// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An option of a connection or listener: its name (as in a URI's query), type, default, range and
 * description. The options of every provider are in {@link StandardOptions}. {@code
 * ConnectionProvider.options()} lists those of a provider, and {@code ferrule providers} prints
 * them.
 *
 * @param <T> the type of the value
 */
public final class Option<T> {

  /** A unit of a size or time: its name, and the number of bytes or nanoseconds. */
  private record Unit(String name, long amount) {}

  // the largest first; the short names of sizes, which are only read, last
  private static final List<Unit> SIZES =
      List.of(
          new Unit("TiB", 1L << 40),
          new Unit("GiB", 1L << 30),
          new Unit("MiB", 1L << 20),
          new Unit("KiB", 1L << 10),
          new Unit("", 1),
          new Unit("T", 1L << 40),
          new Unit("G", 1L << 30),
          new Unit("M", 1L << 20),
          new Unit("K", 1L << 10),
          new Unit("B", 1));
  private static final List<Unit> TIMES =
      List.of(
          new Unit("h", 3_600_000_000_000L),
          new Unit("m", 60_000_000_000L),
          new Unit("s", 1_000_000_000),
          new Unit("ms", 1_000_000),
          new Unit("us", 1_000),
          new Unit("ns", 1));
  private static final Pattern QUANTITY = Pattern.compile("(\\d{1,18})\\s*([A-Za-z]*)");

  /** The syntax and range of a value. */
  private record Format<T>(
      String syntax,
      Function<String, T> parser,
      Predicate<T> valid,
      Function<T, String> formatter) {}

  private final String name;
  private final @Nullable T defaultValue;
  private final String description;
  private final Format<T> format;
  private final boolean queryOverrides;

  private Option(String name, T defaultValue, String description, Format<T> format) {
    this(name, defaultValue, description, format, true);
  }

  private Option(
      String name,
      @Nullable T defaultValue,
      String description,
      Format<T> format,
      boolean queryOverrides) {
    this.name = name;
    this.defaultValue = defaultValue;
    this.description = description;
    this.format = format;
    this.queryOverrides = queryOverrides;
  }

  /**
   * {@return an option whose value is a count}
   *
   * @param name the name, in camel case
   * @param min the minimum
   * @param max the maximum
   * @param defaultValue the default
   * @param description the meaning of the option, in one sentence
   */
  public static Option<Integer> count(
      String name, int min, int max, int defaultValue, String description) {
    String syntax = "a whole number from %s to %s";
    return new Option<>(
        name,
        defaultValue,
        description,
        ranged(min, max, syntax, Integer::valueOf, String::valueOf));
  }

  /**
   * {@return an option whose value is a size in bytes, written as {@code 4096}, {@code 64KiB} or
   * {@code 1MiB}}
   *
   * @param name the name, in camel case
   * @param min the minimum, in bytes
   * @param max the maximum, in bytes
   * @param defaultValue the default, in bytes
   * @param description the meaning of the option, in one sentence
   */
  public static Option<Long> size(
      String name, long min, long max, long defaultValue, String description) {
    String syntax = "a size from %s to %s, such as 65536, 64KiB or 1MiB";
    return new Option<>(
        name,
        defaultValue,
        description,
        ranged(min, max, syntax, Option::parseSize, Option::formatSize));
  }

  /**
   * {@return an option whose value is a duration, written as {@code 250ms}, {@code 5s} or {@code
   * 2m}}
   *
   * @param name the name, in camel case
   * @param min the minimum
   * @param max the maximum
   * @param defaultValue the default
   * @param description the meaning of the option, in one sentence
   */
  public static Option<Duration> duration(
      String name, Duration min, Duration max, Duration defaultValue, String description) {
    String syntax = "a time from %s to %s, such as 250ms, 5s or 2m";
    return new Option<>(
        name,
        defaultValue,
        description,
        ranged(min, max, syntax, Option::parseTime, Option::formatTime));
  }

  private static <T extends Comparable<T>> Format<T> ranged(
      T min, T max, String syntax, Function<String, T> parser, Function<T, String> formatter) {
    return new Format<>(
        syntax.formatted(formatter.apply(min), formatter.apply(max)),
        parser,
        value -> value.compareTo(min) >= 0 && value.compareTo(max) <= 0,
        formatter);
  }

  /**
   * {@return an option that is {@code on} or {@code off}, also true, yes, false or no}
   *
   * @param name the name, in camel case
   * @param defaultValue the default
   * @param description the meaning of the option, in one sentence
   */
  public static Option<Boolean> flag(String name, boolean defaultValue, String description) {
    return new Option<>(
        name,
        defaultValue,
        description,
        new Format<>("one of on, off", Option::parseFlag, on -> true, on -> on ? "on" : "off"));
  }

  /**
   * {@return an option whose value is an enum constant, written in lower case}
   *
   * @param <E> the enum
   * @param name the name, in camel case
   * @param type the enum's class
   * @param defaultValue the default
   * @param description the meaning of the option, in one sentence
   */
  public static <E extends Enum<E>> Option<E> choice(
      String name, Class<E> type, E defaultValue, String description) {
    String choices =
        Arrays.stream(type.getEnumConstants())
            .map(Option::formatEnum)
            .collect(Collectors.joining(", "));
    Function<String, E> parser =
        text -> Enum.valueOf(type, text.toUpperCase(Locale.ROOT).replace('-', '_'));
    return new Option<>(
        name,
        defaultValue,
        description,
        new Format<>("one of " + choices, parser, value -> true, Option::formatEnum));
  }

  /**
   * {@return a copy of this option with another default, for a provider with other needs}
   *
   * @param value the default
   * @throws InvalidOptionException if the value is out of range
   */
  public Option<T> withDefault(T value) {
    return new Option<>(name, check(value), description, format, queryOverrides);
  }

  /** Returns a copy for {@link StandardOptions} whose default each provider sets. */
  Option<T> withoutDefault() {
    return new Option<>(name, null, description, format, queryOverrides);
  }

  /**
   * {@return a copy of this option for which a value that the program sets wins over a URI's query,
   * see {@link #queryOverrides()}}
   */
  public Option<T> withoutQueryOverride() {
    return new Option<>(name, defaultValue, description, format, false);
  }

  /** {@return the option's name, as in a URI's query} */
  public String name() {
    return name;
  }

  /**
   * {@return whether a URI's query may change the value that the program has set in code; false for
   * an option that touches security, for which a query with another value is refused} The query may
   * set every option that the program has not set.
   */
  public boolean queryOverrides() {
    return queryOverrides;
  }

  /**
   * {@return the default value; empty for a constant of {@link StandardOptions} whose default
   * depends on the provider}
   */
  public Optional<T> defaultValue() {
    return Optional.ofNullable(defaultValue);
  }

  /** {@return the default as written in a URI's query; {@code ""} without one} */
  public String defaultText() {
    return defaultValue == null ? "" : format(defaultValue);
  }

  /** {@return a description of the syntax and range of a value} */
  public String syntax() {
    return format.syntax;
  }

  /** {@return the meaning of the option in one sentence} */
  public String description() {
    return description;
  }

  /**
   * Parses a value.
   *
   * @param text the text, as in a URI's query
   * @return the value
   * @throws InvalidOptionException if the text is malformed or the value is out of range
   */
  public T parse(String text) {
    T value;
    try {
      value = format.parser.apply(text.strip());
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw invalid(text, e);
    }
    if (!format.valid.test(value)) {
      throw invalid(text, null);
    }
    return value;
  }

  /**
   * {@return the text of a value, as in a URI's query}
   *
   * @param value a value of this option
   */
  public String format(T value) {
    return format.formatter.apply(value);
  }

  /** Returns the value, if it is in the option's range. */
  T check(T value) {
    Objects.requireNonNull(value, name);
    if (!format.valid.test(value)) {
      throw invalid(format(value), null);
    }
    return value;
  }

  private InvalidOptionException invalid(String text, @Nullable Throwable cause) {
    return new InvalidOptionException(
        null,
        "option " + name + "=" + text + " is not valid: " + name + " is " + format.syntax,
        cause);
  }

  private static Long parseSize(String text) {
    return parseQuantity(text, SIZES);
  }

  private static String formatSize(Long bytes) {
    return formatQuantity(bytes, SIZES);
  }

  private static Duration parseTime(String text) {
    return Duration.ofNanos(parseQuantity(text, TIMES));
  }

  private static long parseQuantity(String text, List<Unit> units) {
    if (text.equals("0")) {
      return 0;
    }
    Matcher matcher = QUANTITY.matcher(text);
    if (matcher.matches()) {
      for (Unit unit : units) {
        if (unit.name.equals(matcher.group(2))) {
          return Math.multiplyExact(Long.parseLong(matcher.group(1)), unit.amount);
        }
      }
    }
    throw new IllegalArgumentException("not a number with a unit: " + text);
  }

  /** Formats by the largest unit of which it is a multiple. */
  private static String formatQuantity(long value, List<Unit> units) {
    Unit unit = units.stream().filter(u -> value % u.amount == 0).findFirst().orElseThrow();
    return value == 0 ? "0" : value / unit.amount + unit.name;
  }

  private static String formatTime(Duration time) {
    try {
      return formatQuantity(time.toNanos(), TIMES);
    } catch (ArithmeticException e) {
      return time.toString(); // centuries, which no option permits
    }
  }

  private static Boolean parseFlag(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true", "on", "yes", "" -> true;
      case "false", "off", "no" -> false;
      default -> throw new IllegalArgumentException("not a flag: " + text);
    };
  }

  private static String formatEnum(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  @Override
  public String toString() {
    return name
        + " ("
        + format.syntax
        + (defaultValue == null ? "" : "; default " + defaultText())
        + ")";
  }
}
