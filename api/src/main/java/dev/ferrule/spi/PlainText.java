// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

/**
 * Escapes text from outside of this process, such as a peer's reason for a rejection or a file
 * name, so that it is safe in messages, logs and terminals. Every character that does not display
 * as itself is escaped: control characters (including terminal escape sequences and line breaks, by
 * which a text could forge log lines), characters that have no width or change the direction of
 * others, and unpaired surrogates.
 *
 * <p>Escaped text remains unchanged.
 */
public final class PlainText {

  private PlainText() {}

  /**
   * Escapes the characters that must not reach a terminal.
   *
   * @param text any text
   * @return the text with each such character as a backslash, the letter u and four hexadecimal
   *     digits; the same object if there is none
   */
  public static String of(String text) {
    if (text.codePoints().allMatch(PlainText::isPlain)) {
      return text;
    }
    StringBuilder escaped = new StringBuilder(text.length() + 16);
    text.codePoints()
        .forEach(codePoint -> {
          if (isPlain(codePoint)) {
            escaped.appendCodePoint(codePoint);
          } else {
            for (char unit : Character.toChars(codePoint)) {
              escaped.append(String.format("\\u%04x", (int) unit));
            }
          }
        });
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
