// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The source files and folders to which pages refer, as pages that show their text. */
class Sources {

  private final Path root;
  private final Map<String, Page> pages = new TreeMap<>();

  Sources(Path root) {
    this.root = root;
  }

  Collection<Page> pages() {
    return pages.values();
  }

  /** Returns the page of a file, or of the files in a folder. */
  Page add(String name) {
    return pages.computeIfAbsent(name, first -> new Page(name, markdown(name)));
  }

  private String markdown(String name) {
    Path path = root.resolve(name);
    StringBuilder text = new StringBuilder("# " + name + "\n\n");
    try {
      if (Files.isRegularFile(path)) {
        return text.append(code(path)).toString();
      }
      try (Stream<Path> files = Files.list(path)) {
        for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
          text.append("## ").append(file.getFileName()).append("\n\n").append(code(file));
        }
      }
      return text.toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String code(Path file) throws IOException {
    return "~~~~~~~~\n" + Files.readString(file).stripTrailing() + "\n~~~~~~~~\n\n";
  }
}
