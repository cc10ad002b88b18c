// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Derives invalid inputs from valid ones. Most of an input stays valid, so that most of it is read.
 */
final class Mutator {

  private static final int MOST_CHANGES = 4;
  private static final int MOST_ADDED = 64;

  /** An input is at most slightly longer than the longest sample times this number. */
  private static final int MOST_REPETITIONS = 8;

  private static final long[] NUMBERS = {
    0,
    1,
    2,
    7,
    8,
    63,
    64,
    255,
    256,
    1023,
    1024,
    4095,
    4096,
    0x7fff,
    0xffff,
    1 << 20,
    1 << 24,
    1 << 30,
    Integer.MAX_VALUE,
    Integer.MIN_VALUE,
    0xffff_ffffL,
    1L << 32,
    1L << 40,
    Long.MAX_VALUE,
    Long.MIN_VALUE,
    -1
  };

  private static final String[] TEXTS = {
    "",
    " ",
    "\0",
    "\n",
    "\033[2J",
    "\u202e",
    "\ud800",
    "\udc00",
    "\ud83d\ude00",
    "é",
    "١",
    "%",
    "%00",
    "%2",
    "%zz",
    "%25",
    "%2F",
    "%0a",
    "%ff",
    "/",
    "//",
    "/../",
    "/./",
    "..",
    ":",
    "::",
    "[",
    "]",
    "[::1]",
    "[fe80::1%25eth0]",
    "@",
    "?",
    "??",
    "&",
    "&&",
    "=",
    "==",
    "#",
    ";",
    ",",
    "+",
    "-",
    "_",
    "\\",
    "'",
    "\"",
    "|",
    "<",
    "$",
    "0",
    "-0",
    "-1",
    "00000000",
    "2147483647",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "99999999999999999999",
    "1e9",
    "1e999999999",
    "0x7f",
    "NaN",
    "1.5",
    "65535",
    "65536",
    "KiB",
    "TiB",
    "T",
    "h",
    "ms",
    "ns",
    "true",
    "on",
    "1/1",
    "/1/1",
    "/999999999/99999"
  };

  private final RandomGenerator random;

  Mutator(RandomGenerator random) {
    this.random = random;
  }

  /** Returns a changed copy of one of the samples; rarely, an unchanged one. */
  byte[] bytes(List<byte[]> samples) {
    byte[] bytes = samples.get(random.nextInt(samples.size())).clone();
    for (int i = random.nextInt(MOST_CHANGES + 1); i > 0; i--) {
      bytes = changed(bytes, samples);
    }
    return bytes;
  }

  private byte[] changed(byte[] bytes, List<byte[]> samples) {
    int kind = random.nextInt(16);
    if (bytes.length == 0 || kind == 0) {
      return extended(bytes);
    }
    int at = random.nextInt(bytes.length);
    return switch (kind) {
      case 1 -> Arrays.copyOf(bytes, at);
      case 2 -> spliced(bytes, at, samples.get(random.nextInt(samples.size())));
      case 3 -> repeated(bytes, at);
      case 4, 5, 6, 7 -> {
        bytes[at] ^= (byte) (1 << random.nextInt(Byte.SIZE));
        yield bytes;
      }
      default -> {
        overwrite(bytes, at);
        yield bytes;
      }
    };
  }

  private byte[] extended(byte[] bytes) {
    byte[] longer = Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(MOST_ADDED));
    if (random.nextBoolean()) {
      for (int i = bytes.length; i < longer.length; i++) {
        longer[i] = (byte) random.nextInt();
      }
    }
    return longer;
  }

  private byte[] spliced(byte[] start, int at, byte[] other) {
    int from = other.length == 0 ? 0 : random.nextInt(other.length);
    byte[] result = Arrays.copyOf(start, at + other.length - from);
    System.arraycopy(other, from, result, at, other.length - from);
    return result;
  }

  private byte[] repeated(byte[] bytes, int from) {
    int count = bytes.length > 1 << 16 ? 1 : 1 + random.nextInt(MOST_REPETITIONS - 1);
    int length = bytes.length - from;
    byte[] result = Arrays.copyOf(bytes, bytes.length + count * length);
    for (int i = 0; i < count; i++) {
      System.arraycopy(bytes, from, result, bytes.length + i * length, length);
    }
    return result;
  }

  /** Overwrites a number of 1, 2, 4 or 8 bytes, mostly at an aligned position. */
  private void overwrite(byte[] bytes, int at) {
    int size = 1 << random.nextInt(4);
    int start = random.nextInt(4) == 0 ? at : at & -size;
    byte[] number =
        ByteBuffer.allocate(Long.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putLong(number(bytes.length))
            .array();
    System.arraycopy(number, 0, bytes, start, Math.min(size, bytes.length - start));
  }

  /** Returns a number near a common limit, or a random one. */
  long number(int length) {
    int kind = random.nextInt(NUMBERS.length + 6);
    long number =
        kind < NUMBERS.length
            ? NUMBERS[kind]
            : kind < NUMBERS.length + 3 ? length >> random.nextInt(4) : random.nextLong();
    return number + random.nextInt(3) - 1;
  }

  /** Returns a changed copy of one of the samples; rarely, an unchanged one. */
  String text(List<String> samples) {
    String text = samples.get(random.nextInt(samples.size()));
    for (int i = random.nextInt(MOST_CHANGES + 1); i > 0; i--) {
      text = changed(text, samples);
    }
    return text;
  }

  private String changed(String text, List<String> samples) {
    int at = random.nextInt(text.length() + 1);
    int to = at + random.nextInt(Math.min(text.length() - at, 8) + 1);
    String start = text.substring(0, at);
    return switch (random.nextInt(14)) {
      case 0 -> start;
      case 1 -> start + (char) random.nextInt(Character.MAX_VALUE + 1) + text.substring(to);
      case 2 -> start + (char) random.nextInt(128) + text.substring(to);
      case 3 -> start + number(text.length()) + text.substring(to);
      case 4 -> start + "9".repeat(random.nextInt(2_000)) + text.substring(to);
      case 5 -> start + TEXTS[random.nextInt(TEXTS.length)].repeat(random.nextInt(200));
      case 6 -> {
        String other = samples.get(random.nextInt(samples.size()));
        yield start + other.substring(random.nextInt(other.length() + 1));
      }
      case 7 -> text.length() > 10_000 ? start : text + text.substring(at).repeat(3);
      case 8 -> start + text.substring(to);
      case 9 -> withOtherNumber(text, at);
      default -> start + TEXTS[random.nextInt(TEXTS.length)] + text.substring(to);
    };
  }

  /** Changes the first decimal number at or after a position. */
  private String withOtherNumber(String text, int from) {
    int start = from;
    while (start < text.length() && !isDigit(text.charAt(start))) {
      start++;
    }
    int end = start;
    while (end < text.length() && isDigit(text.charAt(end))) {
      end++;
    }
    String digits = text.substring(start, end);
    String other =
        switch (random.nextInt(6)) {
          case 0 -> "0" + digits;
          case 1 -> digits + "0";
          case 2 -> "-" + digits;
          case 3 -> "+" + digits;
          case 4 -> digits + "." + digits;
          default -> Long.toString(number(text.length()));
        };
    return text.substring(0, start) + other + text.substring(end);
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
