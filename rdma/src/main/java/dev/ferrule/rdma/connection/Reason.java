// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import java.nio.charset.StandardCharsets;

/**
 * Shortens the reason for a rejection to the length of the connection manager's private data. Like
 * every error message, a reason ends with the fix, which follows the last semicolon. The client's
 * user needs the fix, so it is kept, and the text before it is cut at the end of a word: {@code
 * mmap(1099511627776 bytes): Cannot allocate ...; use a smaller ring}.
 */
final class Reason {

  private static final String CUT = " ...";
  private static final String FIX = "; ";

  private Reason() {}

  /**
   * Returns the reason in UTF-8.
   *
   * @param reason the reason
   * @param limit the maximum number of bytes; at least {@link HelloFormat#LEAST_REASON}
   */
  static byte[] shortened(String reason, int limit) {
    if (bytes(reason) <= limit) {
      return reason.getBytes(StandardCharsets.UTF_8);
    }
    int fixAt = Math.max(reason.lastIndexOf(FIX), 0);
    String fix = fixAt == 0 ? "" : reason.substring(fixAt);
    String before =
        words(reason.substring(0, fixAt == 0 ? reason.length() : fixAt), limit - bytes(CUT + fix));
    String result =
        before.isEmpty()
            ? words(fix.isEmpty() ? reason : fix.substring(FIX.length()), limit - bytes(CUT)) + CUT
            : before + CUT + fix;
    return result.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Returns as many whole words from the start of a text as fit. The name of a function is one
   * word.
   */
  private static String words(String text, int limit) {
    int end = Math.clamp(limit, 0, text.length()); // a character takes at least one byte
    while (end > 0 && (bytes(text.substring(0, end)) > limit || !isEndOfWord(text, end))) {
      end--;
    }
    return text.substring(0, end);
  }

  private static boolean isEndOfWord(String text, int end) {
    return isInWord(text.charAt(end - 1)) && (end == text.length() || !isInWord(text.charAt(end)));
  }

  private static boolean isInWord(char character) {
    return Character.isLetterOrDigit(character)
        || Character.isSurrogate(character)
        || character == '_';
  }

  private static int bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }
}
