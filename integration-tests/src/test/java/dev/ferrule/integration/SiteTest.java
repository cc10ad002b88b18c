// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.jsoup.parser.Parser;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mozilla.javascript.Context;
import org.mozilla.javascript.Scriptable;
import org.mozilla.javascript.ScriptableObject;

/** What {@code ./docs/site} writes. */
@Tag("long")
class SiteTest {
  private static final Pattern LOADED_BY_STYLE = Pattern.compile("@import|url\\((?!['\"]?data:)");

  /** What the JDK's style sheet for the javadoc loads. */
  private static final Pattern OWN_IMAGE = Pattern.compile("url\\(['\"]?([\\w.-]+\\.svg)['\"]?\\)");

  @TempDir private static Path folder;

  private static Path site;

  /** All documents by their path from the folder of the site. */
  private static final Map<String, Document> DOCUMENTS = new TreeMap<>();

  /** The errors in the HTML of the documents that are not javadoc. */
  private static final List<String> ERRORS = new ArrayList<>();

  /** What a run of the script printed. */
  private record Run(int exitCode, String printed) {}

  @BeforeAll
  static void build() throws Exception {
    site = folder.resolve("site");
    Run run = run("--to", site.toString());
    assertThat(run.exitCode()).as(run.printed()).isZero();
    for (Path file : files(site)) {
      String name = site.relativize(file).toString();
      if (name.endsWith(".html")) {
        Parser parser = Parser.htmlParser().setTrackErrors(20);
        Document document = parser.parseInput(Files.readString(file), "");
        DOCUMENTS.put(name, document);
        if (!isJavadoc(name)) {
          parser.getErrors().forEach(error -> ERRORS.add(name + ": " + error));
        }
      }
    }
    assertThat(DOCUMENTS.keySet()).filteredOn(SiteTest::isJavadoc).hasSizeGreaterThan(50);
  }

  private static Run run(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("./docs/site"));
    command.addAll(List.of(arguments));
    Path output = Files.createTempFile(folder, "output", ".txt");
    Process process =
        new ProcessBuilder(command)
            .directory(Page.ROOT.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      process.getOutputStream().close();
      assertThat(process.waitFor(10, TimeUnit.MINUTES)).isTrue();
    } finally {
      process.descendants().forEach(ProcessHandle::destroy);
      process.destroy();
    }
    return new Run(process.exitValue(), Files.readString(output));
  }

  private static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).sorted().toList();
    }
  }

  private static boolean isJavadoc(String name) {
    return name.startsWith("javadoc/");
  }

  /** Returns the documents without the javadoc. */
  private static Map<String, Document> pages() {
    Map<String, Document> pages = new TreeMap<>(DOCUMENTS);
    pages.keySet().removeIf(SiteTest::isJavadoc);
    return pages;
  }

  private static String htmlOf(Page page) {
    String name = Page.ROOT.relativize(page.file()).toString();
    return name.replaceFirst("README\\.md$", "index.md").replaceFirst("md$", "html");
  }

  private static boolean isAbsolute(String link) {
    return link.matches("(?i)[a-z][a-z0-9+.-]*:.*|//.*");
  }

  /** Returns the links of a document, and what it loads. */
  private static List<String> links(Element document) {
    return document.select("[href], [src]").stream()
        .map(element -> element.attr(element.hasAttr("href") ? "href" : "src"))
        .toList();
  }

  private static boolean resolves(String from, String link) {
    String[] pathAndAnchor = link.split("#", 2);
    String path = pathAndAnchor[0].replaceFirst("\\?.*", "");
    String target =
        path.isEmpty()
            ? from
            : site.relativize(site.resolve(from).resolveSibling(path).normalize()).toString();
    if (!Files.isRegularFile(site.resolve(target))) {
      return false;
    }
    // The URL of a javadoc anchor has escapes, such as %3Cinit%3E.
    return pathAndAnchor.length == 1
        || pathAndAnchor[1].isEmpty()
        || ids(target).contains(URI.create("#" + pathAndAnchor[1]).getFragment());
  }

  private static Set<String> ids(String name) {
    return Set.copyOf(DOCUMENTS.get(name).select("[id]").eachAttr("id"));
  }

  @Test
  void everyPageOfTheDocumentationIsInTheSiteAndInItsNavigation() throws IOException {
    Set<String> names = new HashSet<>();
    for (Page page : Page.all()) {
      names.add(htmlOf(page));
    }
    assertThat(names).hasSizeGreaterThan(20);
    assertThat(DOCUMENTS.keySet()).containsAll(names);
    assertThat(DOCUMENTS.get("index.html").select("#pages a").eachAttr("href"))
        .doesNotHaveDuplicates()
        .contains("javadoc/index.html")
        .containsAll(names);
  }

  @Test
  void everyLinkLeadsToAFileAndAnAnchorOfTheSite() {
    List<String> broken = new ArrayList<>();
    int followed = 0;
    for (Map.Entry<String, Document> document : DOCUMENTS.entrySet()) {
      for (String link : links(document.getValue())) {
        if (!isAbsolute(link)) {
          followed++;
          if (!resolves(document.getKey(), link)) {
            broken.add(document.getKey() + ": " + link);
          }
        }
      }
    }
    assertThat(followed).isGreaterThan(5000);
    assertThat(broken).isEmpty();
  }

  @Test
  void theOnlyLinksToOtherSitesAreThoseOfThePages() throws IOException {
    Map<String, Page> sources = new TreeMap<>();
    for (Page page : Page.all()) {
      sources.put(htmlOf(page), page);
    }
    List<String> others = new ArrayList<>();
    int found = 0;
    for (Map.Entry<String, Document> document : DOCUMENTS.entrySet()) {
      Page source = sources.get(document.getKey());
      for (String link : links(document.getValue())) {
        if (isAbsolute(link) && !link.equals("data:,")) { // no icon
          found++;
          if (source == null || !source.text().contains(link)) {
            others.add(document.getKey() + ": " + link);
          }
        }
      }
    }
    assertThat(found).isPositive();
    assertThat(others).isEmpty();
  }

  @Test
  void aBrowserLoadsNothingFromElsewhere() throws IOException {
    for (Map.Entry<String, Document> document : DOCUMENTS.entrySet()) {
      assertThat(links(document.getValue().selectFirst("head")))
          .as(document.getKey())
          .isNotEmpty()
          .allMatch(link -> link.equals("data:,") || !isAbsolute(link));
      assertThat(document.getValue().select("iframe, object, embed, img[src~=^[a-z]+:]")).isEmpty();
    }
    for (Path file : files(site)) {
      if (file.toString().endsWith(".css")) {
        String style = Files.readString(file);
        OWN_IMAGE
            .matcher(style)
            .results()
            .forEach(image -> assertThat(file.resolveSibling(image.group(1))).exists());
        assertThat(OWN_IMAGE.matcher(style).replaceAll(""))
            .as(file.toString())
            .doesNotContainPattern(LOADED_BY_STYLE);
      }
    }
  }

  @Test
  void noFileNamesAFolderOfThisMachine() throws IOException {
    for (Path file : files(site)) {
      if (file.toString().matches(".*\\.(html|js|css)")) {
        assertThat(Files.readString(file))
            .as(file.toString())
            .doesNotContain(Page.ROOT.toString())
            .doesNotContain(folder.toString())
            .doesNotContain(System.getProperty("ferrule.localRepository"));
      }
    }
  }

  @Test
  void theHeadingsHaveTheAnchorsThatLinksInMarkdownUse() throws IOException {
    for (Page page : Page.all()) {
      Element main = DOCUMENTS.get(htmlOf(page)).selectFirst("main");
      assertThat(main.children().select("[id]").eachAttr("id"))
          .as(htmlOf(page))
          .doesNotHaveDuplicates()
          .containsExactlyInAnyOrderElementsOf(page.anchors());
    }
  }

  @Test
  void theHtmlOfThePagesIsWellFormed() {
    assertThat(ERRORS).isEmpty();
    pages()
        .forEach((name, document) -> {
          assertThat(document.select("[id]").eachAttr("id")).as(name).doesNotHaveDuplicates();
          assertThat(document.select("h1")).as(name).hasSize(1);
          assertThat(document.title()).as(name).contains("Ferrule");
          assertThat(document.select("html").attr("lang")).as(name).isEqualTo("en");
        });
  }

  @Test
  void theJavadocHasTheModulesOfTheLibraryAndLeadsToThePages() {
    assertThat(DOCUMENTS.keySet())
        .contains(
            "javadoc/dev.ferrule/dev/ferrule/Sender.html",
            "javadoc/dev.ferrule.contract/module-summary.html",
            "javadoc/dev.ferrule.sm/module-summary.html",
            "javadoc/dev.ferrule.verbs/module-summary.html");
    Document type = DOCUMENTS.get("javadoc/dev.ferrule/dev/ferrule/Sender.html");
    assertThat(links(type)).contains("../../../../index.html", "../../../../docs/sources.html");
  }

  @Test
  void theSearchFindsWhatThePagesSay() throws IOException {
    assertThat(found("tryClaim")).contains("index.html#ferrule", "docs/guide.html#send");
    assertThat(found("EndOfStreamException")).contains("docs/guide.html#closing");
    assertThat(found("endofstreamEXCEPTION")).isEqualTo(found("EndOfStreamException"));
    // All words are found; those in a title come first.
    assertThat(found("many connections").getFirst()).isEqualTo("docs/guide.html#many-connections");
    assertThat(found("tryClaim noSuchWord")).isEmpty();
    assertThat(found(" ")).isEmpty();
    assertThat(found("e")).hasSizeGreaterThan(100).allMatch(url -> resolves("index.html", url));
  }

  /** Runs the script of the search; returns the URLs of the results. */
  private static List<String> found(String query) throws IOException {
    try (Context context = Context.enter()) {
      context.setLanguageVersion(Context.VERSION_ECMASCRIPT);
      Scriptable scope = context.initSafeStandardObjects();
      for (String script : List.of("search-index.js", "search.js")) {
        context.evaluateString(scope, Files.readString(site.resolve(script)), script, 1, null);
      }
      ScriptableObject.putProperty(scope, "query", query);
      String urls = "find(searchIndex, query).map(section => section.url).join('\\n')";
      return context.evaluateString(scope, urls, "test", 1, null).toString().lines().toList();
    }
  }

  @Test
  void twoRunsWriteTheSameFiles() throws Exception {
    Path second = folder.resolve("second");
    Run run = run("--to", second.toString());
    assertThat(run.exitCode()).as(run.printed()).isZero();
    List<Path> names = files(site).stream().map(site::relativize).toList();
    assertThat(files(second).stream().map(second::relativize).toList()).isEqualTo(names);
    assertThat(names)
        .hasSizeGreaterThan(100)
        .allSatisfy(name ->
            assertThat(Files.mismatch(site.resolve(name), second.resolve(name))).isEqualTo(-1));
  }

  @Test
  void aFolderThatIsNotEmptyIsLeftAlone() throws Exception {
    Path used = Files.createDirectory(folder.resolve("used"));
    Path file = Files.writeString(used.resolve("file"), "text");
    Run run = run("--to", used.toString());
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.printed())
        .isEqualTo("site: " + used + " is not empty; give another folder; see --help\n");
    assertThat(files(used)).containsExactly(file);
  }

  @Test
  void aFileInPlaceOfTheFolderIsAnError() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "text");
    Run run = run("--to", file.toString());
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.printed()).isEqualTo("site: " + file + " is not a folder; see --help\n");
  }
}
