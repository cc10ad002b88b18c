// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/** The javadoc of the modules that are published, in one tree, by the JDK's tool. */
class Javadoc {

  private static final Pattern MODULE = Pattern.compile("(?m)^(?:open )?module ([\\w.]+)");

  /** Comments name pages of the documentation by their files. */
  private static final Pattern PAGE = Pattern.compile("\\bdocs/[\\w-]+\\.md\\b");

  private final Path root;
  private final String version;
  private final Links links;

  Javadoc(Path root, String version, Links links) {
    this.root = root;
    this.version = version;
    this.links = links;
  }

  /** Returns the texts of the elements of a name in a pom, without those of its parent. */
  static List<String> element(Path pom, String name) throws IOException {
    String text = Files.readString(pom).replaceFirst("(?s)<parent>.*?</parent>", "");
    return Pattern.compile("<" + name + ">([^<]+)</" + name + ">")
        .matcher(text)
        .results()
        .map(element -> element.group(1))
        .toList();
  }

  void write(Path folder) throws IOException {
    List<String> arguments =
        new ArrayList<>(List.of("-d", folder.toString(), "-quiet", "-notimestamp"));
    List<String> modules = new ArrayList<>();
    for (String artifact : element(root.resolve("bom/pom.xml"), "artifactId")) {
      Path sources = root.resolve(artifact.replaceFirst("^ferrule-", "")).resolve("src/main/java");
      if (Files.exists(sources)) { // not the BOM
        Matcher module = MODULE.matcher(Files.readString(sources.resolve("module-info.java")));
        if (!module.find()) {
          throw new IllegalStateException("no module in " + sources);
        }
        modules.add(module.group(1));
        arguments.addAll(List.of("--module-source-path", module.group(1) + "=" + sources));
      }
    }
    arguments.addAll(List.of("--module", String.join(",", modules)));
    arguments.addAll(List.of("--module-path", System.getProperty("java.class.path")));
    // The build checks the comments.
    arguments.add("-Xdoclint:none");
    // What a reader loads is in the folder.
    arguments.addAll(List.of("--no-platform-links", "--no-fonts", "-nohelp"));
    arguments.addAll(
        List.of("-windowtitle", "Ferrule " + version, "-doctitle", "Ferrule " + version));
    arguments.addAll(
        List.of("-header", "<a href=\"{@docRoot}/../index.html\">Ferrule’s pages</a>"));
    arguments.addAll(
        List.of("--add-stylesheet", root.resolve("build-support/site/javadoc.css").toString()));
    arguments.addAll(List.of("-bottom", "Apache License 2.0"));
    arguments.addAll(List.of("-encoding", "UTF-8", "-docencoding", "UTF-8", "-locale", "en_US"));

    StringWriter messages = new StringWriter();
    PrintWriter printer = new PrintWriter(messages);
    if (ToolProvider.findFirst("javadoc")
            .orElseThrow()
            .run(printer, printer, arguments.toArray(String[]::new))
        != 0) {
      throw new IllegalStateException("the javadoc tool failed:\n" + messages);
    }
    Path style = folder.resolve("resource-files/stylesheet.css");
    Files.writeString(
        style, Files.readString(style).replace("@import url('fonts/dejavu.css');\n", ""));
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".html")).toList()) {
        linkPages(file, "../".repeat(folder.relativize(file).getNameCount()));
      }
    }
  }

  /** Makes the names of pages in comments links. */
  private void linkPages(Path file, String up) throws IOException {
    String html = Files.readString(file);
    String linked = PAGE.matcher(html).replaceAll(page -> Matcher.quoteReplacement(link(page, up)));
    if (!linked.equals(html)) {
      Files.writeString(file, linked);
    }
  }

  private String link(MatchResult page, String up) {
    String name = page.group();
    return links.isPage(name)
        ? "<a href=\"%s\">%s</a>".formatted(up + Page.target(name), name)
        : name;
  }
}
