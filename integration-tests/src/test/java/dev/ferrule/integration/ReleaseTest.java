// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.NodeList;

/**
 * What {@code ./release} writes: the rules of Maven Central, and a user's project that can get
 * Ferrule only from there. The release is of the working tree, whether or not it is committed.
 */
@Tag("long")
class ReleaseTest {
  private static final Path CHECKOUT = Path.of("").toAbsolutePath().getParent();
  private static final String VERSION = "0.1.0-test";

  /** Folders that are not copied. The checkout need not be one of Git, or of this user. */
  private static final Set<String> NOT_SOURCES = Set.of("target", ".git");

  private static final Pattern PLACEHOLDER = Pattern.compile("@([\\w.-]+)@");

  @TempDir private static Path folder;

  private static SigningKey key;

  /** The artifacts' folders. */
  private static Path published;

  @BeforeAll
  static void release() throws Exception {
    key = new SigningKey();
    key.export(folder.resolve("key.asc"), "a passphrase");
    Path commit = commitOfTheWorkingTree();
    Path repository = folder.resolve("repository");
    run(
        commit,
        Map.of("MAVEN_GPG_PASSPHRASE", "a passphrase"),
        "./release",
        VERSION,
        "--to",
        repository.toString(),
        "--sign",
        folder.resolve("key.asc").toString());
    assertThat(run(commit, Map.of(), "git", "status", "--porcelain")).isEmpty();
    published = repository.resolve("dev/ferrule");
  }

  /** Makes a copy of the working tree, where everything is committed. */
  private static Path commitOfTheWorkingTree() throws Exception {
    Path copy = Files.createDirectory(folder.resolve("commit"));
    Files.walkFileTree(
        CHECKOUT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
              throws IOException {
            if (NOT_SOURCES.contains(directory.getFileName().toString())) {
              return FileVisitResult.SKIP_SUBTREE;
            }
            Files.createDirectories(copy.resolve(CHECKOUT.relativize(directory).toString()));
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            if (attributes.isRegularFile()) {
              Path target = copy.resolve(CHECKOUT.relativize(file).toString());
              Files.copy(file, target, StandardCopyOption.COPY_ATTRIBUTES);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    run(copy, Map.of(), "git", "init", "-q");
    run(copy, Map.of(), "git", "add", "-A");
    run(copy, Map.of(), "git", "-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "c");
    return copy;
  }

  /** Runs a command that succeeds; returns its output. */
  private static String run(Path directory, Map<String, String> environment, String... command)
      throws Exception {
    Path output = folder.resolve("output.txt");
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.directory(directory.toFile()).redirectErrorStream(true);
    builder.redirectOutput(output.toFile()).environment().putAll(environment);
    Process process = builder.start();
    try {
      process.getOutputStream().close();
      assertThat(process.waitFor(20, TimeUnit.MINUTES)).as(command[0]).isTrue();
    } finally {
      process.descendants().forEach(ProcessHandle::destroy);
      process.destroy();
    }
    String printed = Files.readString(output);
    assertThat(process.exitValue()).as("%s: %s", command[0], printed).isZero();
    return printed;
  }

  private static List<String> artifacts() throws IOException {
    try (Stream<Path> folders = Files.list(published)) {
      return folders.map(artifact -> artifact.getFileName().toString()).sorted().toList();
    }
  }

  private static Path file(String artifact, String end) {
    return published.resolve(artifact).resolve(VERSION).resolve(artifact + "-" + VERSION + end);
  }

  /** The files but the checksums and signatures. */
  private static List<Path> files() throws IOException {
    return allFiles().stream()
        .filter(file -> !file.toString().matches(".*\\.(md5|sha1|sha256|sha512|asc)"))
        .toList();
  }

  private static List<Path> allFiles() throws IOException {
    try (Stream<Path> files = Files.walk(folder.resolve("repository"))) {
      return files.filter(Files::isRegularFile).toList();
    }
  }

  private static List<String> texts(Path xml, String path) throws Exception {
    // Without namespaces, as Maven's own files have one at most.
    var document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(xml.toFile());
    NodeList nodes =
        (NodeList)
            XPathFactory.newInstance().newXPath().evaluate(path, document, XPathConstants.NODESET);
    return IntStream.range(0, nodes.getLength())
        .mapToObj(i -> nodes.item(i).getTextContent())
        .toList();
  }

  @Test
  void theBomAndWhatItListsIsPublishedAndNothingElse() throws Exception {
    List<String> expected = new ArrayList<>(texts(CHECKOUT.resolve("bom/pom.xml"), "//artifactId"));
    expected.remove("ferrule-parent");
    expected.remove("flatten-maven-plugin");
    assertThat(artifacts()).containsExactlyInAnyOrderElementsOf(expected);
    for (String artifact : artifacts()) {
      boolean hasJars = !artifact.equals("ferrule-bom");
      List<String> ends = new ArrayList<>(List.of(".pom", "-cyclonedx.json", "-cyclonedx.xml"));
      if (hasJars) {
        ends.addAll(List.of(".jar", "-sources.jar", "-javadoc.jar"));
      }
      assertThat(files().stream().filter(file -> file.startsWith(published.resolve(artifact))))
          .containsExactlyInAnyOrderElementsOf(
              ends.stream().map(end -> file(artifact, end)).toList());
    }
  }

  @Test
  void everyPomHasWhatMavenCentralDemands() throws Exception {
    for (String artifact : artifacts()) {
      Path pom = file(artifact, ".pom");
      for (String element :
          List.of(
              "modelVersion",
              "groupId",
              "artifactId",
              "version",
              "name",
              "description",
              "url",
              "licenses/license/name",
              "licenses/license/url",
              "developers/developer/name",
              "scm/connection",
              "scm/developerConnection",
              "scm/url")) {
        assertThat(texts(pom, "/project/" + element))
            .as("%s of %s", element, artifact)
            .isNotEmpty()
            .doesNotContain("");
      }
      assertThat(texts(pom, "/project/groupId")).containsExactly("dev.ferrule");
      assertThat(texts(pom, "/project/artifactId")).containsExactly(artifact);
      assertThat(texts(pom, "/project/version")).containsExactly(VERSION);
    }
  }

  @Test
  void everyPomStandsAloneAndNamesOnlyWhatUsersNeed() throws Exception {
    for (String artifact : artifacts()) {
      Path pom = file(artifact, ".pom");
      assertThat(texts(pom, "//parent | //repository | //pluginRepository | //plugin | //profile"))
          .as(artifact)
          .isEmpty();
      assertThat(texts(pom, "/project/dependencies/dependency[scope='test']")).isEmpty();
      assertThat(texts(pom, "/project/dependencies/dependency[not(version)]")).isEmpty();
      assertThat(texts(pom, "//version")).noneMatch(version -> version.endsWith("-SNAPSHOT"));
      assertThat(texts(pom, "//dependency[groupId='dev.ferrule']/artifactId"))
          .isSubsetOf(artifacts());
    }
  }

  @Test
  void everyJarContainsTheLicenceAndTheNotice() throws Exception {
    List<Path> jars = files().stream().filter(file -> file.toString().endsWith(".jar")).toList();
    assertThat(jars).isNotEmpty();
    for (Path file : jars) {
      try (ZipFile jar = new ZipFile(file.toFile())) {
        for (String name : List.of("LICENSE", "NOTICE")) {
          var entry = jar.getEntry("META-INF/" + name);
          assertThat(entry).as("%s in %s", name, file).isNotNull();
          assertThat(jar.getInputStream(entry))
              .hasSameContentAs(Files.newInputStream(CHECKOUT.resolve(name)));
        }
      }
    }
  }

  @Test
  void theSbomListsTheDependenciesOfThePom() throws Exception {
    for (String artifact : artifacts()) {
      String sbom = Files.readString(file(artifact, "-cyclonedx.json"));
      assertThat(sbom).contains("\"bomFormat\" : \"CycloneDX\"");
      assertThat(sbom).contains("pkg:maven/dev.ferrule/" + artifact + "@" + VERSION);
      for (String dependency :
          texts(file(artifact, ".pom"), "/project/dependencies/dependency/artifactId")) {
        assertThat(sbom).as(artifact).contains("/" + dependency + "@");
      }
    }
  }

  @Test
  void everyFileHasItsChecksums() throws Exception {
    for (Path file : files()) {
      for (var algorithm : Map.of("md5", "MD5", "sha1", "SHA-1").entrySet()) {
        byte[] digest =
            MessageDigest.getInstance(algorithm.getValue()).digest(Files.readAllBytes(file));
        assertThat(Path.of(file + "." + algorithm.getKey()))
            .hasContent(HexFormat.of().formatHex(digest));
      }
    }
  }

  @Test
  void everyFileHasASignatureByTheKey() throws Exception {
    assertThat(files()).isNotEmpty();
    for (Path file : files()) {
      assertThat(Path.of(file + ".asc")).exists();
      assertThat(key.hasSigned(file)).as("signature of %s", file).isTrue();
    }
  }

  @Test
  void aProjectThatGetsFerruleFromTheFolderRunsOnClassPathAndModulePath() throws Exception {
    Path project = Files.createDirectory(folder.resolve("consumer"));
    Path source = CHECKOUT.resolve("integration-tests/src/it/consumer");
    try (Stream<Path> files = Files.walk(source)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path copy = project.resolve(source.relativize(file).toString());
        Files.createDirectories(copy.getParent());
        Files.copy(file, copy);
      }
    }
    Path pom = project.resolve("pom.xml");
    Files.writeString(
        pom,
        withValues(Files.readString(pom))
            .replaceFirst("</properties>", Matcher.quoteReplacement("</properties>" + sources())));
    Path repository = folder.resolve("consumer-repository");

    String printed =
        run(
            project,
            Map.of(),
            "mvn",
            "-B",
            "-ntp",
            "-Dmaven.repo.local=" + repository,
            "process-classes");
    assertThat(printed)
        .contains("received \"hello, ferrule\" on the class path")
        .contains("received \"hello, ferrule\" on the module path");

    // Maven notes where each file is from.
    List<Path> origins;
    try (Stream<Path> files = Files.walk(repository.resolve("dev/ferrule"))) {
      origins = files.filter(file -> file.endsWith("_remote.repositories")).toList();
    }
    assertThat(origins).hasSizeGreaterThan(3);
    for (Path origin : origins) {
      assertThat(Files.readAllLines(origin))
          .filteredOn(line -> !line.startsWith("#"))
          .isNotEmpty()
          .allMatch(line -> line.endsWith(">release="));
    }
  }

  /** Replaces the placeholders by the properties of this build, as Maven's invoker does. */
  private static String withValues(String text) {
    return PLACEHOLDER
        .matcher(text)
        .replaceAll(placeholder -> {
          String name = placeholder.group(1);
          try {
            return name.equals("project.version")
                ? VERSION
                : texts(CHECKOUT.resolve("pom.xml"), "/project/properties/" + name).getFirst();
          } catch (Exception e) {
            throw new IllegalStateException("no value of " + name, e);
          }
        });
  }

  /** The folder of the release, and this machine's repository for everything else. */
  private static String sources() {
    String machine =
        """
        <id>this-machine</id>
        <url>%s</url>
        <releases>
          <!-- A local repository has no checksums. -->
          <checksumPolicy>ignore</checksumPolicy>
        </releases>
        """
            .formatted(Path.of(System.getProperty("ferrule.localRepository")).toUri());
    return """

    <repositories>
      <repository>
        <id>release</id>
        <url>%s</url>
        <releases>
          <checksumPolicy>fail</checksumPolicy>
        </releases>
      </repository>
      <repository>%s</repository>
    </repositories>
    <pluginRepositories>
      <pluginRepository>%s</pluginRepository>
    </pluginRepositories>
    """
        .formatted(folder.resolve("repository").toUri(), machine, machine);
  }
}
