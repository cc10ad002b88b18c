// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.messages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Exception messages in the sources are parts of a sentence, which a cause may follow. */
class MessageStyleTest {

  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

  /** The arguments of a new exception, up to the end of the statement. */
  private static final Pattern EXCEPTION =
      Pattern.compile("new \\w*(?:Exception|Error)\\(((?:\"(?:[^\"\\\\]|\\\\.)*+\"|[^\";])*+)");

  private static final Pattern LITERAL = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");

  /** A capitalized word at the start that is no name, such as that of a method or a constant. */
  private static final Pattern CAPITAL = Pattern.compile("[A-Z][a-z]+ .*");

  private static final Pattern END = Pattern.compile(".*[.!]\\s*");

  @Test
  void noMessageBeginsWithACapitalOrEndsWithAPeriod() throws IOException {
    List<String> found = new ArrayList<>();
    int messages = 0;
    for (Path file : sources()) {
      Matcher exception = EXCEPTION.matcher(Files.readString(file));
      while (exception.find()) {
        List<String> literals =
            LITERAL.matcher(exception.group(1)).results().map(it -> it.group(1)).toList();
        if (!literals.isEmpty()) {
          messages++;
          if (CAPITAL.matcher(literals.getFirst()).matches()
              || END.matcher(literals.getLast()).matches()) {
            found.add(ROOT.relativize(file) + ": " + literals);
          }
        }
      }
    }
    assertThat(found).isEmpty();
    assertThat(messages).isGreaterThan(300);
  }

  private static List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .filter(file ->
              ROOT.relativize(file).toString().matches("[\\w-]+/src/main/java/dev/.*\\.java"))
          .toList();
    }
  }
}
