// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.InvalidOptionException;
import dev.ferrule.Option;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Sizes and times on the command line, written as they are in the query of a URI. */
public final class Values {

  private static final Option<Long> SIZE = Option.size("it", 0, 1L << 30, 0, "a number of bytes");
  private static final Option<Duration> TIME =
      Option.duration("it", Duration.ZERO, Duration.ofHours(24), Duration.ZERO, "a length of time");

  private Values() {}

  /** Reads {@code 4096}, {@code 64KiB}, {@code 1MiB}. */
  public static final class Size implements ITypeConverter<Integer> {

    /** Made by picocli. */
    public Size() {}

    @Override
    public Integer convert(String text) {
      return Math.toIntExact(parse(SIZE, text));
    }
  }

  /** Reads {@code 250ms}, {@code 5s}. */
  static final class Time implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
      return parse(TIME, text);
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
