// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The page {@code examples/README.md} and the folders that it describes. */
public final class ExamplesPage {

  public static final Path FOLDER = Page.ROOT.resolve("examples");

  private static final Pattern COMMAND =
      Pattern.compile(
          "(?m)^    .*java --enable-native-access=ALL-UNNAMED"
              + " -cp ['\"](?:tools/target/ferrule|micrometer/target/metrics)/lib/\\*['\"]"
              + " (examples/\\S+\\.java)((?: [^\\s']+)*)");

  private ExamplesPage() {}

  /** A command that runs a program: its source, and the arguments for which a user has values. */
  public record Command(Path source, List<String> placeholders) {}

  /** Returns the command that the page has for a program such as {@code publish/Publisher.java}. */
  public static Command command(String program) throws IOException {
    return commands().stream()
        .filter(command -> command.source().equals(Path.of("examples", program)))
        .findFirst()
        .orElseThrow(() -> new AssertionError("examples/README.md has no command for " + program));
  }

  static List<Command> commands() throws IOException {
    Matcher matcher = COMMAND.matcher(text());
    return matcher
        .results()
        .map(found ->
            new Command(
                Path.of(found.group(1)),
                Arrays.stream(found.group(2).split(" ")).filter(word -> !word.isEmpty()).toList()))
        .toList();
  }

  static String text() throws IOException {
    return Files.readString(FOLDER.resolve("README.md"));
  }

  static List<Path> folders() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files.filter(Files::isDirectory).sorted().toList();
    }
  }
}
