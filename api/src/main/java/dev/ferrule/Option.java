// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
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

  private static final Pattern SIZE =
      Pattern.compile("(\\d{1,18})\\s*(|B|KiB|MiB|GiB|TiB|K|M|G|T)");
  private static final String[] UNITS = {"", "KiB", "MiB", "GiB", "TiB"};
  private static final Pattern DURATION = Pattern.compile("(\\d{1,18})\\s*(ns|us|ms|s|m|h)");

  private final String name;
  private final Class<T> type;
  private final T defaultValue;
  private final String syntax;
  private final String description;
  private final Function<String, T> parser;
  private final Predicate<T> valid;
  private final Function<T, String> formatter;

  private Option(
      String name,
      Class<T> type,
      T defaultValue,
      String syntax,
      String description,
      Function<String, T> parser,
      Predicate<T> valid,
      Function<T, String> formatter) {
    this.name = name;
    this.type = type;
    this.defaultValue = defaultValue;
    this.syntax = syntax;
    this.description = description;
    this.parser = parser;
    this.valid = valid;
    this.formatter = formatter;
  }

  /**
   * Creates an option whose value is a count.
   *
   * @param name the name, in camel case
   * @param min the minimum
   * @param max the maximum
   * @param defaultValue the default
   * @param description the meaning of the option, in one sentence
   * @return the option
   */
  public static Option<Integer> count(
      String name, int min, int max, int defaultValue, String description) {
    return new Option<>(
        name,
        Integer.class,
        defaultValue,
        "a whole number from " + min + " to " + max,
        description,
        Integer::valueOf,
        value -> value >= min && value <= max,
        String::valueOf);
  }

  /**
   * Creates an option whose value is a size in bytes, written as {@code 4096}, {@code 64KiB} or
   * {@code 1MiB}.
   *
   * @param name the name, in camel case
   * @param min the minimum, in bytes
   * @param max the maximum, in bytes
   * @param defaultValue the default, in bytes
   * @param description the meaning of the option, in one sentence
   * @return the option
   */
  public static Option<Long> size(
      String name, long min, long max, long defaultValue, String description) {
    return new Option<>(
        name,
        Long.class,
        defaultValue,
        "a size from "
            + formatSize(min)
            + " to "
            + formatSize(max)
            + ", such as 65536, 64KiB or 1MiB",
        description,
        Option::parseSize,
        value -> value >= min && value <= max,
        Option::formatSize);
  }

  /**
   * Creates an option whose value is a duration, written as {@code 250ms}, {@code 5s} or {@code
   * 2m}.
   *
   * @param name the name, in camel case
   * @param min the minimum
   * @param max the maximum
   * @param defaultValue the default
   * @param description the meaning of the option, in one sentence
   * @return the option
   */
  public static Option<Duration> duration(
      String name, Duration min, Duration max, Duration defaultValue, String description) {
    return new Option<>(
        name,
        Duration.class,
        defaultValue,
        "a time from "
            + formatDuration(min)
            + " to "
            + formatDuration(max)
            + ", such as 250ms, 5s or 2m",
        description,
        Option::parseDuration,
        value -> value.compareTo(min) >= 0 && value.compareTo(max) <= 0,
        Option::formatDuration);
  }

  /**
   * Creates an option that is on or off.
   *
   * @param name the name, in camel case
   * @param defaultValue the default
   * @param description the meaning of the option, in one sentence
   * @return the option
   */
  public static Option<Boolean> flag(String name, boolean defaultValue, String description) {
    return new Option<>(
        name,
        Boolean.class,
        defaultValue,
        "true or false",
        description,
        Option::parseFlag,
        value -> true,
        String::valueOf);
  }

  /**
   * Creates an option whose value is an enum constant, written in lower case.
   *
   * @param <E> the enum
   * @param name the name, in camel case
   * @param type the enum's class
   * @param defaultValue the default
   * @param description the meaning of the option, in one sentence
   * @return the option
   */
  public static <E extends Enum<E>> Option<E> choice(
      String name, Class<E> type, E defaultValue, String description) {
    String choices =
        Arrays.stream(type.getEnumConstants())
            .map(Option::formatEnum)
            .collect(Collectors.joining(", "));
    return new Option<>(
        name,
        type,
        defaultValue,
        "one of " + choices,
        description,
        text -> Enum.valueOf(type, text.toUpperCase(Locale.ROOT).replace('-', '_')),
        value -> true,
        Option::formatEnum);
  }

  /**
   * Returns a copy of this option with another default, for a provider with other needs.
   *
   * @param value the default
   * @return an option with the same name and range
   * @throws InvalidOptionException if the value is out of range
   */
  public Option<T> withDefault(T value) {
    return new Option<>(name, type, check(value), syntax, description, parser, valid, formatter);
  }

  /**
   * Returns the option's name.
   *
   * @return the name, as in a URI's query
   */
  public String name() {
    return name;
  }

  /**
   * Returns the type of the option's value.
   *
   * @return the value's class
   */
  public Class<T> type() {
    return type;
  }

  /**
   * Returns the default value.
   *
   * @return the default
   */
  public T defaultValue() {
    return defaultValue;
  }

  /**
   * Returns the default as written in a URI's query.
   *
   * @return the text of the default
   */
  public String defaultText() {
    return formatter.apply(defaultValue);
  }

  /**
   * Returns a description of the syntax and range of a value.
   *
   * @return the syntax, in words
   */
  public String syntax() {
    return syntax;
  }

  /**
   * Returns the meaning of the option.
   *
   * @return the description, one sentence
   */
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
      value = parser.apply(text.strip());
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw invalid(text, e);
    }
    if (!valid.test(value)) {
      throw invalid(text, null);
    }
    return value;
  }

  /**
   * Validates a value against the option's range.
   *
   * @param value the value
   * @return the value
   * @throws InvalidOptionException if the value is out of range
   */
  public T check(T value) {
    Objects.requireNonNull(value, name);
    if (!valid.test(value)) {
      throw invalid(formatter.apply(value), null);
    }
    return value;
  }

  private InvalidOptionException invalid(String text, @Nullable Throwable cause) {
    return new InvalidOptionException(
        null, "option " + name + "=" + text + " is not valid: " + name + " is " + syntax, cause);
  }

  private static Long parseSize(String text) {
    Matcher matcher = SIZE.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not a size: " + text);
    }
    int shift =
        switch (matcher.group(2)) {
          case "K", "KiB" -> 10;
          case "M", "MiB" -> 20;
          case "G", "GiB" -> 30;
          case "T", "TiB" -> 40;
          default -> 0;
        };
    return Math.multiplyExact(Long.parseLong(matcher.group(1)), 1L << shift);
  }

  private static String formatSize(long bytes) {
    // by the largest unit of which it is a multiple
    int unit = bytes == 0 ? 0 : Math.min(Long.numberOfTrailingZeros(bytes) / 10, UNITS.length - 1);
    return (bytes >> 10 * unit) + UNITS[unit];
  }

  private static Duration parseDuration(String text) {
    if (text.equals("0")) {
      return Duration.ZERO;
    }
    Matcher matcher = DURATION.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not a time: " + text);
    }
    long number = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "ns" -> Duration.ofNanos(number);
      case "us" -> Duration.ofNanos(Math.multiplyExact(number, 1_000L));
      case "ms" -> Duration.ofMillis(number);
      case "s" -> Duration.ofSeconds(number);
      case "m" -> Duration.ofMinutes(number);
      default -> Duration.ofHours(number);
    };
  }

  private static String formatDuration(Duration duration) {
    if (duration.isZero()) {
      return "0";
    }
    if (duration.getNano() % 1_000_000 != 0) {
      return duration.toNanos() + "ns";
    }
    if (duration.getNano() != 0) {
      return duration.toMillis() + "ms";
    }
    long seconds = duration.getSeconds();
    if (seconds % 3600 == 0) {
      return seconds / 3600 + "h";
    }
    return seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
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

  /**
   * Formats a value as in a URI's query.
   *
   * @param value a value of this option
   * @return the text of the value
   */
  public String format(T value) {
    return formatter.apply(value);
  }

  @Override
  public String toString() {
    return name + " (" + syntax + "; default " + defaultText() + ")";
  }
}
