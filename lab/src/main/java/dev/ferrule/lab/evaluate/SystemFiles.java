// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;

/** Files that describe the system, each of which may be missing or unreadable. */
public final class SystemFiles {

  private SystemFiles() {}

  /** Returns a file's text without white space around it; empty if it has none. */
  public static Optional<String> text(Path file) {
    try {
      return Optional.of(new String(Files.readAllBytes(file), StandardCharsets.UTF_8).strip())
          .filter(text -> !text.isEmpty());
    } catch (IOException | SecurityException e) {
      return Optional.empty();
    }
  }

  /** Returns the rest of the first line that starts with a name. */
  static Optional<String> value(Path file, String name) {
    return text(file).stream()
        .flatMap(String::lines)
        .filter(line -> line.startsWith(name))
        .map(line -> line.substring(name.length()).replaceFirst("^[\\s:=]+", ""))
        .map(value -> value.replaceAll("\\s+", " ").strip())
        .findFirst();
  }

  /** Returns the entries of a folder that match a pattern, in order. */
  public static List<Path> list(Path folder, String pattern) {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, pattern)) {
      return StreamSupport.stream(files.spliterator(), false).sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }
}
