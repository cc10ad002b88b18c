// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A page of the documentation, in Markdown. */
record Page(Path file, String text) {

  /** Maven runs the tests in the folder of the module, the other parts of ./test in the root. */
  static final Path ROOT =
      Stream.of(Path.of("").toAbsolutePath(), Path.of("").toAbsolutePath().getParent())
          .filter(folder -> Files.isDirectory(folder.resolve("examples")))
          .findFirst()
          .orElseThrow();

  /** The folders of the modules whose sources the pages of reference describe. */
  static final List<String> LIBRARY =
      List.of(
          "api",
          "provider-support",
          "posix",
          "verbs",
          "rdma",
          "spi-sm",
          "spi-sendrecv",
          "spi-magicring");

  private static final String COMPLETE = "import dev.ferrule.*;";
  private static final Pattern FENCED = Pattern.compile("(?ms)^ *```(\\w*)\n(.*?)^ *```$");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");
  private static final Pattern ANCHOR = Pattern.compile("<a id=\"([^\"]+)\"");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");

  static Page of(String name) throws IOException {
    Path file = ROOT.resolve(name);
    return new Page(file, Files.readString(file));
  }

  /** Returns the pages in the root folder, in docs and in examples. */
  static List<Page> all() throws IOException {
    try (Stream<Path> root = Files.list(ROOT);
        Stream<Path> docs = Files.list(ROOT.resolve("docs"));
        Stream<Path> examples = Files.list(ROOT.resolve("examples"))) {
      List<Path> files =
          Stream.of(root, docs, examples)
              .flatMap(folder -> folder)
              .filter(file -> file.toString().endsWith(".md"))
              .sorted()
              .toList();
      List<Page> pages = new ArrayList<>();
      for (Path file : files) {
        pages.add(new Page(file, Files.readString(file)));
      }
      return pages;
    }
  }

  /** Returns the targets of all links outside of code, without those to other sites. */
  List<String> links() {
    return LINK.matcher(FENCED.matcher(text).replaceAll(""))
        .results()
        .map(link -> link.group(1))
        .filter(link -> !link.startsWith("http"))
        .toList();
  }

  /**
   * Returns the anchors of this page: explicit ones, and those that GitHub makes of the headings. A
   * repeated heading has a number.
   */
  Set<String> anchors() {
    Set<String> anchors = new HashSet<>();
    Map<String, Integer> headings = new HashMap<>();
    String prose = FENCED.matcher(text).replaceAll("");
    HEADING
        .matcher(prose)
        .results()
        .map(heading -> heading.group(1).replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1"))
        .map(heading -> heading.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N}_\\- ]", ""))
        .map(heading -> heading.replace(' ', '-'))
        .forEach(heading -> {
          int earlier = headings.merge(heading, 1, Integer::sum) - 1;
          anchors.add(earlier == 0 ? heading : heading + "-" + earlier);
        });
    ANCHOR.matcher(prose).results().forEach(anchor -> anchors.add(anchor.group(1)));
    return anchors;
  }

  /** Returns the Java examples that are not complete programs. */
  List<String> fragments() {
    return java().map(block -> block.group(2)).filter(code -> !code.startsWith(COMPLETE)).toList();
  }

  /** Returns the complete program whose name begins the paragraph before it. */
  String program(String name) {
    return java()
        .filter(block -> block.group(2).startsWith(COMPLETE))
        .filter(block -> paragraphBefore(block.start()).startsWith("`" + name + "`"))
        .map(block -> block.group(2))
        .findFirst()
        .orElseThrow(() -> new AssertionError(file + " has no program " + name));
  }

  /** Returns the number of complete programs. */
  long programs() {
    return java().filter(block -> block.group(2).startsWith(COMPLETE)).count();
  }

  private Stream<MatchResult> java() {
    return FENCED.matcher(text).results().filter(block -> block.group(1).equals("java"));
  }

  private String paragraphBefore(int position) {
    String before = text.substring(0, position).stripTrailing();
    return before.substring(before.lastIndexOf("\n\n") + 2);
  }
}
