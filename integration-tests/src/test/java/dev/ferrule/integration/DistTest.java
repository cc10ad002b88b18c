// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ferrule.tools.Main;
import dev.ferrule.tools.support.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/**
 * The archive that {@code ./dist tar} writes, on a host without a JDK: the command runs with an
 * empty environment, in a folder with a space in its path.
 */
@Tag("long")
class DistTest {

  @TempDir private static Path folder;

  private static Path archive;

  /** The folder in the archive. */
  private static Path home;

  /** The result of a command. */
  private record Ended(int exitCode, String out, String err) {}

  @BeforeAll
  static void unpack() throws Exception {
    Distribution.write(folder, "tar");
    archive = Distribution.file(folder, "ferrule-" + Distribution.VERSION, ".tar.gz");
    Path place = Files.createDirectory(folder.resolve("a folder"));
    run("/usr/bin/env", "tar", "-C", place.toString(), "-xzf", archive.toString());
    home = place.resolve(archive.getFileName().toString().replace(".tar.gz", ""));
    assertThat(home).isDirectory();
  }

  /** Runs a command in an empty environment, in another folder. */
  private static Ended run(String... command) throws Exception {
    return run(Map.of(), command);
  }

  private static Ended run(Map<String, String> environment, String... command) throws Exception {
    Path out = Files.createTempFile(folder, "out", "");
    Path err = Files.createTempFile(folder, "err", "");
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().clear();
    builder.environment().putAll(environment);
    builder.directory(Path.of("/").toFile());
    builder.redirectOutput(out.toFile()).redirectError(err.toFile());
    Process process = builder.start();
    process.getOutputStream().close();
    assertThat(process.waitFor(5, TimeUnit.MINUTES)).as(command[0]).isTrue();
    return new Ended(process.exitValue(), Files.readString(out), Files.readString(err));
  }

  private static Ended ferrule(String... arguments) throws Exception {
    return ferrule(home, Map.of(), arguments);
  }

  private static Ended ferrule(Path home, Map<String, String> environment, String... arguments)
      throws Exception {
    List<String> command = new ArrayList<>(List.of(home.resolve("bin/ferrule").toString()));
    command.addAll(Arrays.asList(arguments));
    return run(environment, command.toArray(String[]::new));
  }

  @Test
  void itRunsWithoutAJdk() throws Exception {
    Ended version = ferrule("--version");
    assertThat(version.err()).isEmpty();
    assertThat(version.exitCode()).isZero();
    assertThat(version.out())
        .matches("ferrule " + Distribution.VERSION + "( \\([0-9a-f]{12}(-dirty)?\\))?\nJava .*\n");
  }

  @Test
  void itRunsThroughLinks() throws Exception {
    Path absolute = Files.createSymbolicLink(folder.resolve("link"), home.resolve("bin/ferrule"));
    Path relative = Files.createSymbolicLink(folder.resolve("second"), Path.of("link"));
    Path directory = Files.createSymbolicLink(folder.resolve("linked"), home);
    for (Path link : List.of(absolute, relative, directory.resolve("bin/ferrule"))) {
      assertThat(run(link.toString(), "--version"))
          .as(link.toString())
          .isEqualTo(ferrule("--version"));
    }
  }

  @Test
  void theOptionsOfOtherJvmsDoNotReachIt() throws Exception {
    for (String variable : List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")) {
      assertThat(ferrule(home, Map.of(variable, "-javaagent:/nowhere.jar"), "--version"))
          .as(variable)
          .isEqualTo(ferrule("--version"));
    }
  }

  @Test
  void doctorFindsItsJavaWithNativeAccessAndCrossMemoryAttach() throws Exception {
    Ended doctor = ferrule("doctor");
    assertThat(doctor.err()).isEmpty();
    assertThat(doctor.exitCode()).isZero();
    assertThat(doctor.out())
        .containsPattern("ok +java .* in .*/a folder/.*/lib/runtime, native access enabled\n")
        .containsPattern("ok +provider sm ")
        .containsPattern("CMA ")
        .doesNotContain("CMA                 unknown");
  }

  @Test
  void itMeasuresWithAServerInAProcessOfTheSameRuntime() throws Exception {
    Ended latency =
        ferrule("latency", "--size", "8,64", "--messages", "100", "--rounds", "1", "--warmup=10");
    assertThat(latency.err()).isEmpty();
    assertThat(latency.exitCode()).isZero();
    assertThat(latency.out()).containsPattern("(?m)^ +8 +100 ").containsPattern("(?m)^ +64 +100 ");
  }

  @Test
  void itPlots() throws Exception {
    Path plot = folder.resolve("plot.png");
    Ended latency =
        ferrule(
            "latency", "--size=8", "--messages=10", "--rounds=1", "--warmup=10", "--plot=" + plot);
    assertThat(latency.err()).isEmpty();
    assertThat(plot).isNotEmptyFile();
  }

  @ParameterizedTest
  @CsvSource({"--version", "doctor", "help", "providers"})
  void shortCommandsLoadTheirClassesFromTheArchive(String command) throws Exception {
    Path loaded = folder.resolve("loaded.txt");
    Map<String, String> environment =
        Map.of("FERRULE_JAVA_OPTS", "-Xlog:class+load:file=" + loaded + ":none");
    assertThat(ferrule(home, environment, command).err()).isEmpty();
    List<String> ofFiles =
        Files.readAllLines(loaded).stream()
            .filter(line -> line.matches(".* source: (file|jrt|shared objects).*"))
            .toList();
    assertThat(ofFiles).hasSizeGreaterThan(1000);
    // Picocli's classes are in an old format, which the archive has only for some.
    assertThat(ofFiles)
        .filteredOn(line -> !line.contains("shared objects") && !line.startsWith("picocli."))
        .hasSizeLessThan(ofFiles.size() / 20);
  }

  @Test
  void itRunsWithoutTheArchiveIfAJarHasAnotherTime() throws Exception {
    Path copy = folder.resolve("copy");
    run("/usr/bin/env", "cp", "-a", home.toString(), copy.toString());
    try (Stream<Path> jars = Files.list(copy.resolve("lib/jars"))) {
      Files.setLastModifiedTime(jars.findFirst().orElseThrow(), FileTime.from(Instant.now()));
    }
    assertThat(ferrule(copy, Map.of(), "--version")).isEqualTo(ferrule("--version"));
  }

  @Test
  void aColonInItsPathIsReported() throws Exception {
    Path copy = Files.createDirectories(folder.resolve("a:b/bin"));
    Files.copy(home.resolve("bin/ferrule"), copy.resolve("ferrule"));
    Ended ended = ferrule(copy.getParent(), Map.of(), "--version");
    assertThat(ended.exitCode()).isEqualTo(1);
    assertThat(ended.err()).contains("a:b has a colon in its path");
  }

  @Test
  void everyFileBelongsToRootAndHasTheTimeOfTheBuild() throws Exception {
    Ended listed =
        run("/usr/bin/env", "TZ=UTC", "tar", "--numeric-owner", "-tvzf", archive.toString());
    List<String> lines = listed.out().lines().toList();
    assertThat(lines).hasSizeGreaterThan(100);
    Set<String> attributes =
        lines.stream()
            .map(line -> line.split("\\s+"))
            .map(words -> words[1] + " " + words[3] + " " + words[4])
            .collect(Collectors.toSet());
    assertThat(attributes).containsExactly("0/0 " + timeOfTheBuild() + " 00:00");
    assertThat(lines)
        .filteredOn(line -> !line.startsWith("l"))
        .allMatch(line -> line.matches("(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--) .*"));
  }

  private static String timeOfTheBuild() throws IOException {
    return Files.readAllLines(Distribution.CHECKOUT.resolve("pom.xml")).stream()
        .filter(line -> line.contains("<project.build.outputTimestamp>"))
        .map(line -> line.replaceAll(".*>(.*)T00:00:00Z<.*", "$1"))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void theLicencesAreInIt() throws Exception {
    Path docs = home.resolve("share/doc/ferrule");
    assertThat(docs.resolve("LICENSE"))
        .hasSameTextualContentAs(Distribution.CHECKOUT.resolve("LICENSE"));
    assertThat(docs.resolve("NOTICE"))
        .hasSameTextualContentAs(Distribution.CHECKOUT.resolve("NOTICE"));
    assertThat(home.resolve("lib/runtime/legal/java.base/LICENSE")).isNotEmptyFile();
    String others = Files.readString(docs.resolve("THIRD-PARTY.txt"));
    try (Stream<Path> jars = Files.list(home.resolve("lib/jars"))) {
      assertThat(jars.map(jar -> jar.getFileName().toString()))
          .filteredOn(jar -> !jar.startsWith("ferrule-"))
          .hasSize(4)
          .allMatch(jar -> others.contains("lib/jars/" + jar.replaceAll("-\\d.*", "-*.jar ")));
    }
  }

  @Test
  void eachCommandHasAManPageWithItsOptionsAndTheExitCodes() throws Exception {
    assumeTrue(isInstalled("groff"), "groff is not installed");
    CommandLine root = Main.description();
    int pages = 1;
    for (CommandLine command : root.getSubcommands().values()) {
      // This JVM's class path also has the commands of lab.
      Class<?> type = command.getCommandSpec().userObject().getClass();
      if (type.getPackage().equals(Main.class.getPackage())) {
        assertIsManPage("ferrule-" + command.getCommandName(), command);
        pages++;
      }
    }
    String text = assertIsManPage("ferrule", root);
    assertThat(text).contains("FERRULE_JAVA_OPTS").contains("ferrule-latency(1)");
    assertThat(pages).isGreaterThan(10);
    try (Stream<Path> files = Files.list(home.resolve("share/man/man1"))) {
      assertThat(files).hasSize(pages);
    }
  }

  private static String assertIsManPage(String name, CommandLine command) throws Exception {
    Path page = home.resolve("share/man/man1/" + name + ".1");
    Ended ended =
        run(
            Map.of("PATH", "/usr/bin:/bin"), // for the programs that it starts
            "/usr/bin/env",
            "groff",
            "-man",
            "-Tascii",
            "-P-cbou", // plain text
            "-rLL=200n",
            "-ww",
            page.toString());
    assertThat(ended.err()).as(name).isEmpty();
    String text = ended.out();
    assertThat(text).as(name).contains("NAME\n", "SYNOPSIS\n", "OPTIONS\n", "EXIT STATUS\n");
    for (String code : ExitCode.descriptions()) {
      assertThat(text).as(name).contains(code.split(":", 2)[1]);
    }
    assertThat(command.getCommandSpec().options())
        .filteredOn(option -> !option.hidden())
        .isNotEmpty()
        .allMatch(option -> text.contains(option.longestName()));
    return text;
  }

  private static boolean isInstalled(String program) throws Exception {
    return run("/bin/sh", "-c", "command -v " + program).exitCode() == 0;
  }

  @ParameterizedTest
  @CsvSource({
    "la,                    latency",
    "help ba,               bandwidth",
    "--ver,                 --verbose --version",
    "latency --wait EMPTY,     spin adaptive block",
    "latency --wait = s,    spin",
    "latency --provider EMPTY, magicring sendrecv sm",
    "latency -o wa,         ''",
    "latency -o wait = s,   ''",
    "latency --pl,          --plot",
    "latency -n EMPTY,         ''",
    "ls --js,               --json",
    "send ./,               ''"
  })
  void bashCompletes(String words, String expected) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                "/bin/bash",
                "-c",
                "set -u; . \"$1\"; shift; COMP_WORDS=(ferrule \"$@\"); COMP_CWORD=$#; _ferrule;"
                    + " echo \"${COMPREPLY[*]}\"",
                "bash",
                home.resolve("share/bash-completion/completions/ferrule").toString()));
    Stream.of(words.split(" ")).map(word -> word.replace("EMPTY", "")).forEach(command::add);
    Ended ended = run(command.toArray(String[]::new));
    assertThat(ended.err()).isEmpty();
    assertThat(ended.out().strip()).isEqualTo(expected);
  }

  @Test
  void fishCompletes() throws Exception {
    assumeTrue(isInstalled("fish"), "fish is not installed");
    Ended ended =
        run(
            Map.of("HOME", folder.toString()),
            "/usr/bin/env",
            "fish",
            "--no-config",
            "-c",
            "source $argv[1]; complete -C 'ferrule la'; complete -C 'ferrule latency --wait '",
            home.resolve("share/fish/vendor_completions.d/ferrule.fish").toString());
    assertThat(ended.err()).isEmpty();
    assertThat(ended.out().lines().map(line -> line.split("\t")[0]))
        .containsExactly("latency", "adaptive", "block", "spin");
  }

  @Test
  void zshParsesItsCompletion() throws Exception {
    assumeTrue(isInstalled("zsh"), "zsh is not installed");
    Path file = home.resolve("share/zsh/site-functions/_ferrule");
    Ended ended = run("/usr/bin/env", "zsh", "-f", "-n", file.toString());
    assertThat(ended).isEqualTo(new Ended(0, "", ""));
  }

  @ParameterizedTest
  @CsvSource({
    "'',               'missing format: tar, deb or image'",
    "zip,              'unknown format zip'",
    "tar --to,         'missing value of --to'",
    "tar --jars /,     '/ has no ferrule-tools-*.jar'",
    "tar --fast,       'unknown option --fast'"
  })
  void wrongArgumentsAreReported(String arguments, String message) throws Exception {
    List<String> command =
        new ArrayList<>(List.of(Distribution.CHECKOUT.resolve("dist").toString()));
    Stream.of(arguments.split(" ")).filter(word -> !word.isEmpty()).forEach(command::add);
    assertThat(run(Map.of("PATH", "/usr/bin:/bin"), command.toArray(String[]::new)))
        .isEqualTo(new Ended(2, "", "dist: " + message + "; see --help\n"));
  }
}
