// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import java.nio.charset.StandardCharsets;

/**
 * Text from outside of this process, such as a peer's reason for a refusal or the name of a file,
 * made safe for messages, logs and terminals: what a reader does not see as itself is escaped. That
 * is control characters (among them those that start a terminal's commands, and ends of lines, by
 * which a text could pretend to be several), characters that change the direction of others or have
 * no width, and halves of surrogate pairs.
 *
 * <p>A text that is escaped already stays as it is.
 */
public final class PlainText {

  private PlainText() {}

  /**
   * Decodes text that a peer has sent.
   *
   * @param utf8 the bytes; those that are no UTF-8 become replacement characters
   * @return the text, without control characters
   */
  public static String of(byte[] utf8) {
    return of(new String(utf8, StandardCharsets.UTF_8));
  }

  /**
   * Escapes what must not reach a terminal.
   *
   * @param text any text
   * @return the text with each such character as a backslash, the letter u and its four hexadecimal
   *     digits; the same object if there is none
   */
  public static String of(String text) {
    int plain = 0;
    while (plain < text.length() && isPlain(text.codePointAt(plain))) {
      plain += Character.charCount(text.codePointAt(plain));
    }
    if (plain == text.length()) {
      return text;
    }
    StringBuilder escaped = new StringBuilder(text.length() + 16).append(text, 0, plain);
    int codePoint;
    for (int i = plain; i < text.length(); i += Character.charCount(codePoint)) {
      codePoint = text.codePointAt(i);
      if (isPlain(codePoint)) {
        escaped.appendCodePoint(codePoint);
      } else {
        for (char unit : Character.toChars(codePoint)) {
          escaped.append(String.format("\\u%04x", (int) unit));
        }
      }
    }
    return escaped.toString();
  }

  private static boolean isPlain(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          false;
      default -> true;
    };
  }
}
