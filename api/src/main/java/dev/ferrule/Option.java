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
 * A setting of a connection or listener: its name (as in a URI's query), type, default, range and
 * meaning. The ones that every provider has are in {@link StandardOptions}; a provider lists its
 * own in {@code ConnectionProvider.options()}, and {@code ferrule providers} prints them.
 *
 * @param <T> the type of the value
 */
public final class Option<T> {

  private static final Pattern SIZE = Pattern.compile("(\\d{1,18})\\s*(|B|KiB|MiB|GiB|K|M|G)");
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
   * Defines an option that counts something.
   *
   * @param name the name, in camel case
   * @param min the least value
   * @param max the greatest value
   * @param defaultValue the value if the option is not set
   * @param description what it does, in one sentence
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
   * Defines an option that is a size in bytes, written as {@code 4096}, {@code 64KiB} or {@code
   * 1MiB}.
   *
   * @param name the name, in camel case
   * @param min the least value, in bytes
   * @param max the greatest value, in bytes
   * @param defaultValue the value if the option is not set, in bytes
   * @param description what it does, in one sentence
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
   * Defines an option that is a length of time, written as {@code 250ms}, {@code 5s} or {@code 2m}.
   *
   * @param name the name, in camel case
   * @param min the least value
   * @param max the greatest value
   * @param defaultValue the value if the option is not set
   * @param description what it does, in one sentence
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
   * Defines an option that is on or off.
   *
   * @param name the name, in camel case
   * @param defaultValue the value if the option is not set
   * @param description what it does, in one sentence
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
   * Defines an option that is one of an enum's constants, written in lower case.
   *
   * @param <E> the enum
   * @param name the name, in camel case
   * @param type the enum's class
   * @param defaultValue the value if the option is not set
   * @param description what it does, in one sentence
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
   * Returns this option with another default, for a provider where another value is apt.
   *
   * @param value the other default
   * @return the option, of the same name and with the same values
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
   * Returns the value that the option has if it is not set.
   *
   * @return the default
   */
  public T defaultValue() {
    return defaultValue;
  }

  /**
   * Returns the default as it would be written in a URI's query.
   *
   * @return the default's text
   */
  public String defaultText() {
    return formatter.apply(defaultValue);
  }

  /**
   * Returns how a value is written, with its range.
   *
   * @return the syntax, in words
   */
  public String syntax() {
    return syntax;
  }

  /**
   * Returns what the option does.
   *
   * @return the description, one sentence
   */
  public String description() {
    return description;
  }

  /**
   * Reads a value from text.
   *
   * @param text the text, as in a URI's query
   * @return the value
   * @throws InvalidOptionException if the text is not a value of this option
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
   * Checks a value against the option's range.
   *
   * @param value the value
   * @return the value
   * @throws InvalidOptionException if it is out of range
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
          default -> 0;
        };
    return Math.multiplyExact(Long.parseLong(matcher.group(1)), 1L << shift);
  }

  private static String formatSize(long bytes) {
    if (bytes != 0 && bytes % (1 << 30) == 0) {
      return (bytes >> 30) + "GiB";
    }
    if (bytes != 0 && bytes % (1 << 20) == 0) {
      return (bytes >> 20) + "MiB";
    }
    if (bytes != 0 && bytes % (1 << 10) == 0) {
      return (bytes >> 10) + "KiB";
    }
    return Long.toString(bytes);
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
   * Writes a value as it would stand in a URI's query.
   *
   * @param value a value of this option
   * @return its text
   */
  public String format(T value) {
    return formatter.apply(value);
  }

  @Override
  public String toString() {
    return name + " (" + syntax + "; default " + defaultText() + ")";
  }
}
