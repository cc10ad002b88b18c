// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/** Checks of the source tree as a whole. */
class SourceTreeTest {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
  private static final Set<String> NOT_FOR_USERS =
      Set.of("bom", "benchmarks", "integration-tests", "lab", "tools");

  private static final List<String> GENERATED =
      List.of(
          "posix/src/main/java/dev/ferrule/posix/libc",
          "verbs/src/main/java/dev/ferrule/verbs/libibverbs",
          "verbs/src/main/java/dev/ferrule/verbs/librdmacm");

  private static final String VERBS_EXAMPLE = "examples/raw-verbs/VerbsExample.java";
  private static final int VERBS_EXAMPLE_LINES = 120;
  private static final int API_LINES = 4_470;

  private static final Pattern IDIOM =
      Pattern.compile(
          "\\b(nobody|somebody|anybody|whoever|whomever|the seed|tells? whether|told apart|"
              + "mend(s|ed|ing)?|what there is|all the room that|makes? no sense|"
              + "of its own doing|hears? of|acknowledgements?)\\b",
          Pattern.CASE_INSENSITIVE);

  /** The declaration of a class, not a comment or a string. */
  private static final Pattern DECLARATION =
      Pattern.compile("(?m)^ *(?:[a-z-]+ )*(?:class|interface|record|enum) (\\w+)");

  private static final Set<String> IMPORTANT =
      Set.of(
          "Access",
          "Arrivals",
          "ConnectionResources",
          "Effort",
          "Endpoint",
          "Exposure",
          "Figure",
          "Handshake",
          "Link",
          "RawMemory",
          "Series");

  /** Text in backticks, without spaces. */
  private static final Pattern CODE = Pattern.compile("`([^`\\s]+)`");

  /** The name of a test, which may be abbreviated by {@code …}. */
  private static final Pattern TEST_METHOD =
      Pattern.compile("(?:([A-Z]\\w*(?:Test|Contract|Faults))\\.)?(…?)([A-Za-z]\\w+)(…?)");

  private static final Pattern TEST_CLASS = Pattern.compile("[A-Z]\\w*(?:Test|Contract|Faults)");
  private static final Pattern SENTENCE = Pattern.compile("[a-z]+(?:[A-Z][a-z0-9]*){3,}");

  @Test
  void everyArtifactThatAUserMayDependOnIsInTheBom() throws Exception {
    List<String> artifacts =
        texts(ROOT.resolve("pom.xml"), "module").stream()
            .filter(module -> !NOT_FOR_USERS.contains(module))
            .map(module -> "ferrule-" + module)
            .toList();
    assertThat(artifacts).isNotEmpty();
    assertThat(texts(ROOT.resolve("bom/pom.xml"), "artifactId")).containsAll(artifacts);
  }

  @Test
  void everyJavaFileExceptGeneratedOnesStatesTheLicence() throws Exception {
    // Spotless checks most files, but skips module-info and package-info.
    try (Stream<Path> files = Files.walk(ROOT)) {
      List<Path> unlicensed =
          files
              .filter(file -> file.toString().endsWith(".java"))
              .map(ROOT::relativize)
              .filter(file -> file.toString().contains("src/") || file.startsWith("examples"))
              .filter(file -> !file.toString().contains("target/"))
              .filter(file -> !isGenerated(file))
              .filter(file -> !firstLine(file).equals("// SPDX-License-Identifier: Apache-2.0"))
              .toList();
      assertThat(unlicensed).isEmpty();
    }
  }

  /** NullAway checks only the packages that are marked. Benchmarks have fields that JMH sets. */
  @Test
  void everyPackageExceptGeneratedOnesIsNullMarked() throws Exception {
    List<Path> packages = new ArrayList<>();
    for (String module : texts(ROOT.resolve("pom.xml"), "module")) {
      Path sources = ROOT.resolve(module).resolve("src/main/java");
      if (Files.exists(sources) && !module.equals("benchmarks")) {
        try (Stream<Path> files = Files.walk(sources)) {
          files
              .filter(file -> file.toString().endsWith(".java"))
              .map(Path::getParent)
              .filter(folder -> !folder.equals(sources) && !isGenerated(ROOT.relativize(folder)))
              .distinct()
              .forEach(packages::add);
        }
      }
    }
    assertThat(packages)
        .hasSizeGreaterThan(30)
        .allSatisfy(folder ->
            assertThat(folder.resolve("package-info.java")).content().contains("@NullMarked"));
  }

  /**
   * {@code generate.sh} writes the checksums. A file that is edited later does not match its own.
   */
  @Test
  void theBindingsAreTheUneditedOutputOfJextract() throws Exception {
    Path manifest = ROOT.resolve("build-support/jextract/SHA256SUMS");
    Map<Path, String> expected = new TreeMap<>();
    for (String line : Files.readAllLines(manifest)) {
      String[] sumAndFile = line.split("  ", 2);
      expected.put(Path.of(sumAndFile[1]), sumAndFile[0]);
    }
    Map<Path, String> actual = new TreeMap<>();
    List<String> folders = new ArrayList<>(GENERATED);
    folders.add("build-support/jextract");
    for (String folder : folders) {
      try (Stream<Path> files = Files.list(ROOT.resolve(folder))) {
        for (Path file : files.filter(SourceTreeTest::isInManifest).toList()) {
          byte[] sum = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
          actual.put(ROOT.relativize(file), HexFormat.of().formatHex(sum));
        }
      }
    }
    assertThat(actual).hasSizeGreaterThan(50).isEqualTo(expected);
  }

  private static boolean isInManifest(Path file) {
    return file.toString().matches(".*\\.(java|args|h)");
  }

  /** A reader who searches for a name finds one meaning. */
  @Test
  void noTwoClassesHaveTheSameName() throws IOException {
    Map<String, List<Path>> byName =
        mainSources().stream()
            .collect(Collectors.groupingBy(file -> file.getFileName().toString()));
    assertThat(byName.size()).isGreaterThan(300);
    byName.values().removeIf(sameName -> sameName.size() == 1);
    assertThat(byName).isEmpty();
  }

  /** These names are central to one module each; a nested class may repeat any other. */
  @Test
  void noNestedClassHasTheNameOfAnImportantOne() throws IOException {
    Map<String, List<Path>> byName = new TreeMap<>();
    for (Path file : mainSources()) {
      DECLARATION
          .matcher(Files.readString(ROOT.resolve(file)))
          .results()
          .map(declaration -> declaration.group(1))
          .filter(IMPORTANT::contains)
          .forEach(name -> byName.computeIfAbsent(name, first -> new ArrayList<>()).add(file));
    }
    assertThat(byName).isNotEmpty();
    byName.values().removeIf(sameName -> sameName.size() == 1);
    assertThat(byName).isEmpty();
  }

  /** The class path of the tests has the test's class first, and nothing reports that. */
  @Test
  void noClassOfTheTestsReplacesOneOfTheProduct() throws IOException {
    Set<Path> classes =
        sources("main").stream().map(SourceTreeTest::classFile).collect(Collectors.toSet());
    assertThat(sources("test").stream().map(SourceTreeTest::classFile))
        .filteredOn(classes::contains)
        .as("except the hook, whose class of the product does nothing")
        .containsExactly(Path.of("dev/ferrule/sm/ring/RingTestHook.java"));
  }

  /** Returns the path in the folder of the packages, after {@code MODULE/src/main/java}. */
  private static Path classFile(Path source) {
    return source.subpath(4, source.getNameCount());
  }

  private static List<Path> mainSources() throws IOException {
    return sources("main");
  }

  private static List<Path> sources(String kind) throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .map(ROOT::relativize)
          .filter(file -> file.toString().matches("[\\w-]+/src/" + kind + "/java/.*\\.java"))
          .filter(file -> !isGenerated(file))
          .filter(file -> !file.toString().endsWith("-info.java"))
          .toList();
    }
  }

  /** Idioms that a reader would have to translate; see CONTRIBUTING.md. */
  @Test
  void noFileUsesTheWorstIdioms() throws IOException {
    List<String> found = new ArrayList<>();
    try (Stream<Path> files = Files.walk(ROOT)) {
      for (Path file : files.filter(SourceTreeTest::isText).toList()) {
        List<String> lines = Files.readAllLines(file);
        for (int i = 0; i < lines.size(); i++) {
          if (IDIOM.matcher(lines.get(i)).find()) {
            found.add(ROOT.relativize(file) + ":" + (i + 1) + ": " + lines.get(i).strip());
          }
        }
      }
    }
    assertThat(found).isEmpty();
  }

  /** Returns whether jextract wrote a file. */
  private static boolean isGenerated(Path file) {
    return GENERATED.stream().anyMatch(file::startsWith);
  }

  private static boolean isText(Path file) {
    Path path = ROOT.relativize(file);
    String name = path.toString();
    return (name.endsWith(".java") || name.endsWith(".md") || name.endsWith(".sh"))
        && !name.contains("target/")
        && !name.startsWith(".git/")
        && !isGenerated(path)
        && !path.endsWith("SourceTreeTest.java");
  }

  @Test
  void everyTestThatTheDocumentationNamesExists() throws IOException {
    Map<String, String> sources = testSources();
    List<String> unknown = new ArrayList<>();
    int named = 0;
    for (Path page : pages()) {
      for (Matcher code = CODE.matcher(Files.readString(page)); code.find(); ) {
        String name = code.group(1);
        if (isTest(name)) {
          named++;
          if (!exists(name, sources)) {
            unknown.add(page.getFileName() + ": " + name);
          }
        }
      }
    }
    assertThat(named).isGreaterThan(50);
    assertThat(unknown).isEmpty();
  }

  @Test
  void theProgramInThePageOnVerbsIsTheTestedOne() throws IOException {
    String example = Files.readString(ROOT.resolve(VERBS_EXAMPLE));
    assertThat(Files.readString(ROOT.resolve("docs/verbs.md")))
        .contains("```java\n" + example.substring(example.indexOf("import ")) + "```");
  }

  @Test
  void theProgramInThePageOnVerbsIsShort() throws IOException {
    assertThat(Files.readAllLines(ROOT.resolve(VERBS_EXAMPLE)))
        .hasSizeLessThan(VERBS_EXAMPLE_LINES);
  }

  /** The author of a program reads all of the API. */
  @Test
  void theApiIsSmall() throws IOException {
    int lines = 0;
    try (Stream<Path> files = Files.walk(ROOT.resolve("api/src/main"))) {
      for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
        lines += Files.readAllLines(file).size();
      }
    }
    assertThat(lines).isLessThanOrEqualTo(API_LINES);
  }

  private static List<Path> pages() throws IOException {
    try (Stream<Path> files = Files.list(ROOT.resolve("docs"))) {
      Stream<Path> others =
          Stream.of("CONTRIBUTING.md", "README.md", "examples/README.md").map(ROOT::resolve);
      return Stream.concat(files, others)
          .filter(file -> file.toString().endsWith(".md"))
          .sorted()
          .toList();
    }
  }

  /** Returns the source text of all test classes by name. Classes of the same name are joined. */
  private static Map<String, String> testSources() throws IOException {
    Map<String, String> sources = new HashMap<>();
    try (Stream<Path> files = Files.walk(ROOT)) {
      for (Path file : files.filter(SourceTreeTest::isTestSource).toList()) {
        String name = file.getFileName().toString().replace(".java", "");
        sources.merge(name, Files.readString(file), String::concat);
      }
    }
    return sources;
  }

  private static boolean isTestSource(Path file) {
    String path = ROOT.relativize(file).toString();
    return path.endsWith(".java")
        && (path.contains("src/test/") || path.startsWith("contract/src/"))
        && !path.contains("target/");
  }

  private static boolean isTest(String name) {
    Matcher method = TEST_METHOD.matcher(name);
    return TEST_CLASS.matcher(name).matches()
        || method.matches()
            && (method.group(1) != null
                || !method.group(2).isEmpty()
                || !method.group(4).isEmpty()
                || SENTENCE.matcher(method.group(3)).matches());
  }

  private static boolean exists(String name, Map<String, String> sources) {
    if (sources.containsKey(name)) {
      return true;
    }
    Matcher method = TEST_METHOD.matcher(name);
    if (!method.matches() || TEST_CLASS.matcher(name).matches()) {
      return false;
    }
    Pattern declaration =
        Pattern.compile(
            "void "
                + (method.group(2).isEmpty() ? "" : "\\w*")
                + method.group(3)
                + (method.group(4).isEmpty() ? "" : "\\w*")
                + "\\(");
    return method.group(1) == null
        ? sources.values().stream().anyMatch(text -> declaration.matcher(text).find())
        : declaration.matcher(sources.getOrDefault(method.group(1), "")).find();
  }

  private static String firstLine(Path file) {
    try (Stream<String> lines = Files.lines(ROOT.resolve(file))) {
      return lines.findFirst().orElse("");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> texts(Path pom, String element) throws Exception {
    Document document =
        DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile());
    NodeList nodes = document.getElementsByTagName(element);
    return IntStream.range(0, nodes.getLength())
        .mapToObj(i -> nodes.item(i).getTextContent())
        .toList();
  }
}
