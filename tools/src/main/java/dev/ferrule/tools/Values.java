// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.InvalidOptionException;
import dev.ferrule.Option;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import java.math.BigDecimal;
import java.time.Duration;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/**
 * Converters for numbers, sizes and times. Sizes and times have the format of a URI's query; a time
 * without a unit is in seconds.
 */
public final class Values {

  private static final Option<Long> SIZE = Option.size("it", 0, 1L << 30, 0, "a number of bytes");
  private static final Option<Duration> TIME =
      Option.duration("it", Duration.ZERO, Duration.ofHours(24), Duration.ZERO, "a length of time");

  private static final Duration SHORTEST_INTERVAL = Duration.ofMillis(100);

  private Values() {}

  /**
   * Lets a command and its subcommands parse whole numbers such as {@code 1e6}.
   *
   * @param commandLine the command
   */
  public static void register(CommandLine commandLine) {
    ITypeConverter<Long> longs = text -> number(text).longValueExact();
    ITypeConverter<Integer> ints = text -> number(text).intValueExact();
    commandLine.registerConverter(Long.class, exact(longs));
    commandLine.registerConverter(Long.TYPE, exact(longs));
    commandLine.registerConverter(Integer.class, exact(ints));
    commandLine.registerConverter(Integer.TYPE, exact(ints));
    commandLine.registerConverter(WaitStrategy.class, text -> parse(StandardOptions.WAIT, text));
  }

  private static BigDecimal number(String text) {
    return new BigDecimal(text.strip());
  }

  private static <T> ITypeConverter<T> exact(ITypeConverter<T> converter) {
    return text -> {
      try {
        return converter.convert(text);
      } catch (NumberFormatException e) {
        throw new TypeConversionException(
            "'" + text + "' is not a whole number such as 1000000 or 1e6");
      } catch (ArithmeticException e) {
        throw new TypeConversionException("'" + text + "' is not a whole number, or too large");
      }
    };
  }

  /** Converts {@code 4096}, {@code 64KiB}, {@code 1MiB}. */
  public static final class Size implements ITypeConverter<Integer> {

    /** Called by picocli. */
    public Size() {}

    @Override
    public Integer convert(String text) {
      return Math.toIntExact(parse(SIZE, text));
    }
  }

  /** Converts {@code 10} and {@code 0.5}, which are in seconds, {@code 500ms}, {@code 5s}. */
  static final class Time implements ITypeConverter<Duration> {

    /** Seconds with at most three decimals, as a regular expression. */
    static final String DECIMAL = "\\d+\\.\\d{1,3}";

    @Override
    public Duration convert(String text) {
      String time = text;
      if (text.matches(DECIMAL)) {
        time = new BigDecimal(text).movePointRight(3).toBigInteger() + "ms";
      } else if (text.matches("\\d+")) {
        time = text + "s";
      }
      try {
        return TIME.parse(time);
      } catch (InvalidOptionException e) {
        throw new TypeConversionException(
            "'" + text + "' is not a time from 0 to 24h, such as 5, 250ms or 2m");
      }
    }
  }

  /** Refuses an interval so short that reading would take longer. */
  static void checkInterval(CommandSpec spec, String option, Duration interval) {
    if (interval.compareTo(SHORTEST_INTERVAL) < 0) {
      throw new ParameterException(spec.commandLine(), option + " must be at least 100ms");
    }
  }

  private static <T> T parse(Option<T> option, String text) {
    try {
      return option.parse(text);
    } catch (InvalidOptionException e) {
      throw new TypeConversionException("'" + text + "' is not " + option.syntax());
    }
  }
}
