// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A range of processors.
 *
 * @param first the number of the first one
 * @param last the number of the last one
 */
record Cpus(int first, int last) {

  /** As taskset writes it. Linux has at most 8192 processors. */
  private static final Pattern FORMAT = Pattern.compile("(\\d{1,4})(?:-(\\d{1,4}))?");

  IntStream numbers() {
    return IntStream.rangeClosed(first, last);
  }

  @Override
  public String toString() {
    return first == last ? Integer.toString(first) : first + "-" + last;
  }

  /** Converts {@code 2} and {@code 2-3}. */
  static final class Converter implements ITypeConverter<Cpus> {
    @Override
    public Cpus convert(String text) {
      Matcher range = FORMAT.matcher(text.strip());
      if (range.matches()) {
        int first = Integer.parseInt(range.group(1));
        int last = range.group(2) == null ? first : Integer.parseInt(range.group(2));
        if (first <= last) {
          return new Cpus(first, last);
        }
      }
      throw new TypeConversionException(
          "'" + text + "' is not a processor number or a range; list them as in 2,3 or 2-3");
    }
  }
}
