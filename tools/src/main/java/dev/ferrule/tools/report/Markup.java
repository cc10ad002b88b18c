// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

/** Text within HTML and SVG. */
public final class Markup {

  private Markup() {}

  /**
   * {@return text for use between tags and in quoted attributes, without control characters, which
   * XML does not allow}
   *
   * @param text the text
   */
  public static String escape(String text) {
    StringBuilder escaped = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char letter = text.charAt(i);
      switch (letter) {
        case '&' -> escaped.append("&amp;");
        case '<' -> escaped.append("&lt;");
        case '>' -> escaped.append("&gt;");
        case '"' -> escaped.append("&quot;");
        default -> {
          // control characters are not allowed in XML, not even escaped
          if (letter >= ' ' || letter == '\n' || letter == '\t') {
            escaped.append(letter);
          }
        }
      }
    }
    return escaped.toString();
  }
}
