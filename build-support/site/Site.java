// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Writes the pages of the documentation and the javadoc as static HTML; {@code docs/site} runs it.
 * Everything that a browser loads is in the folder, so that the site needs neither a server nor a
 * network.
 *
 * <p>Arguments: the folder of the sources, and an existing empty one for the site.
 */
class Site {

  static final String JAVADOC = "javadoc/index.html";

  /** The pages in the order of reading, by their group. */
  private static final Map<String, List<String>> NAVIGATION = new LinkedHashMap<>();

  static {
    NAVIGATION.put(
        "",
        List.of(
            "README.md",
            "docs/install.md",
            "docs/guide.md",
            "docs/guide-sm.md",
            "examples/README.md"));
    NAVIGATION.put(
        "Reference", List.of("docs/options.md", "docs/observing.md", "docs/json.md", JAVADOC));
    NAVIGATION.put("Transports", List.of("docs/rdma.md", "docs/verbs.md"));
    NAVIGATION.put(
        "Protocols",
        List.of(
            "docs/protocol-sm.md",
            "docs/protocol-sendrecv.md",
            "docs/protocol-magicring.md",
            "docs/protocol-rma.md"));
    NAVIGATION.put(
        "Performance", List.of("docs/performance.md", "docs/model.md", "docs/lab-notes.md"));
    NAVIGATION.put("Trust", List.of("docs/reliability.md", "docs/security.md", "SECURITY.md"));
    NAVIGATION.put(
        "Project",
        List.of("docs/architecture.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/sources.md"));
  }

  private final Path root;
  private final Path site;
  private final String version;

  /** The pages in Markdown by the file's path, in the order of reading. */
  private final Map<String, Page> pages = new LinkedHashMap<>();

  private Site(Path root, Path site) throws IOException {
    this.root = root;
    this.site = site;
    version = Javadoc.element(root.resolve("pom.xml"), "version").getFirst();
  }

  public static void main(String[] arguments) throws IOException {
    try {
      new Site(Path.of(arguments[0]), Path.of(arguments[1])).write();
    } catch (IllegalStateException e) {
      fail(e.getMessage());
    } catch (NoSuchFileException e) {
      fail("no file " + e.getFile());
    }
  }

  private static void fail(String message) {
    System.err.println("site: " + message);
    System.exit(1);
  }

  private void write() throws IOException {
    readPages();
    Sources sources = new Sources(root);
    Links links = new Links(root, pages.keySet(), sources);
    SearchIndex index = new SearchIndex();
    List<Page> ordered = List.copyOf(pages.values());
    for (int i = 0; i < ordered.size(); i++) {
      Page page = ordered.get(i);
      page.resolveLinks(links, name -> pages.get(name).title());
      write(
          page,
          neighbours(
              i == 0 ? null : ordered.get(i - 1),
              i + 1 < ordered.size() ? ordered.get(i + 1) : null,
              page));
      index.add(page);
    }
    for (Page page : sources.pages()) {
      write(page, "");
      index.add(page);
    }
    Files.writeString(site.resolve("search-index.js"), index.script());
    for (String asset : List.of("site.css", "search.js", "site.js")) {
      Files.copy(root.resolve("build-support/site").resolve(asset), site.resolve(asset));
    }
    new Javadoc(root, version, links).write(site.resolve("javadoc"));
  }

  /** Reads the pages of the navigation, which has to have every page of these folders. */
  private void readPages() throws IOException {
    for (List<String> group : NAVIGATION.values()) {
      for (String name : group) {
        if (!name.equals(JAVADOC)) {
          pages.put(name, new Page(name, Files.readString(root.resolve(name))));
        }
      }
    }
    for (String folder : List.of("", "docs", "examples")) {
      try (Stream<Path> files = Files.list(root.resolve(folder))) {
        for (Path file : files.filter(path -> path.toString().endsWith(".md")).sorted().toList()) {
          String name = root.relativize(file).toString();
          if (!pages.containsKey(name)) {
            throw new IllegalStateException(
                name + " has no place in the site; add it to NAVIGATION in Site.java");
          }
        }
      }
    }
  }

  private void write(Page page, String neighbours) throws IOException {
    Path file = site.resolve(page.target());
    Files.createDirectories(file.getParent());
    String up = "../".repeat(Path.of(page.target()).getNameCount() - 1);
    Files.writeString(file, html(page, neighbours, up));
  }

  private String html(Page page, String neighbours, String up) {
    String title = page.title().equals("Ferrule") ? "Ferrule" : page.title() + " – Ferrule";
    return """
    <!DOCTYPE html>
    <html lang="en" data-up="%1$s">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>%2$s</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="%1$ssite.css">
    <script src="%1$ssearch.js" defer></script>
    <script src="%1$ssite.js" defer></script>
    </head>
    <body>
    <a class="skip" href="#content">Skip to the content</a>
    <header>
    <button type="button" popovertarget="pages">Pages</button>
    <a class="brand" href="%1$sindex.html">Ferrule <small>%3$s</small></a>
    <button type="button" popovertarget="contents">On this page</button>
    <search><input type="search" id="query" placeholder="Search" aria-label="Search the pages" autocomplete="off" spellcheck="false">
    <div id="results" hidden></div></search>
    </header>
    <nav id="pages" popover aria-label="Pages">
    %4$s</nav>
    <nav id="contents" popover aria-label="On this page">
    %5$s</nav>
    <main id="content" tabindex="-1">
    %6$s%7$s</main>
    <footer>Ferrule %3$s · Apache License 2.0</footer>
    </body>
    </html>
    """
        .formatted(
            up,
            Html.escape(title),
            Html.escape(version),
            navigation(page, up),
            page.contents(),
            page.html(),
            neighbours);
  }

  private String navigation(Page current, String up) {
    StringBuilder html = new StringBuilder();
    NAVIGATION.forEach((group, names) -> {
      if (!group.isEmpty()) {
        html.append("<p>").append(group).append("</p>\n");
      }
      html.append("<ul>\n");
      for (String name : names) {
        Page page = pages.get(name);
        String target = page == null ? name : page.target();
        String label =
            page == null
                ? "API (javadoc)"
                : page == pages.get("README.md") ? "Overview" : page.title();
        html.append("<li><a href=\"")
            .append(up)
            .append(target)
            .append('"')
            .append(page == current ? " aria-current=\"page\">" : ">")
            .append(Html.escape(label))
            .append("</a></li>\n");
      }
      html.append("</ul>\n");
    });
    return html.toString();
  }

  /** Links to the pages before and after one. */
  private static String neighbours(Page previous, Page next, Page page) {
    List<String> links = new ArrayList<>();
    if (previous != null) {
      links.add(
          "<a rel=\"prev\" href=\"%s\">← %s</a>"
              .formatted(page.pathTo(previous.target()), Html.escape(previous.title())));
    }
    if (next != null) {
      links.add(
          "<a rel=\"next\" href=\"%s\">%s →</a>"
              .formatted(page.pathTo(next.target()), Html.escape(next.title())));
    }
    return "<p class=\"neighbours\">" + String.join("\n", links) + "</p>\n";
  }
}
