// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every example in the javadoc for users compiles, runs in a JVM of its own, and prints what the
 * comments after its {@code println} statements state.
 */
@Tag("long")
class JavadocExamplesTest {

  private static final List<String> MODULES = List.of("api", "micrometer");
  private static final String START = "{@snippet lang=java :";
  private static final Pattern MARGIN = Pattern.compile("(?m)^ *\\* ?");
  private static final Pattern PRINTED =
      Pattern.compile("System\\.out\\.println\\(.*\\);( // (.*))?");

  /**
   * The end of the resources of the statement that opens the connection. The client is not the
   * first one.
   */
  private static final Pattern CONNECTED =
      Pattern.compile("Connection client = connecting\\.join\\(\\)[^{]*\\) \\{\n");

  private static final String CLASS_NAME = "Example";
  private static final String PROLOGUE =
      "import dev.ferrule.*;\n"
          + "import dev.ferrule.micrometer.*;\n"
          + "import io.micrometer.core.instrument.MeterRegistry;\n"
          + "import io.micrometer.core.instrument.Tags;\n"
          + "import io.micrometer.core.instrument.simple.SimpleMeterRegistry;\n"
          + "import java.lang.foreign.*;\n"
          + "import java.net.URI;\n"
          + "import java.nio.channels.*;\n"
          + "import java.time.*;\n"
          + "import java.util.*;\n"
          + "import java.util.concurrent.*;\n"
          + "\n"
          + "public class Example {\n"
          + "  public static void main(String[] args) throws Exception {\n";
  private static final String EPILOGUE = "  }\n}\n";

  /** The start of the examples' addresses, which is replaced by a directory of the test. */
  private static final String ADDRESS = "sm:///tmp/";

  private static final long SECONDS = 120;

  /** More than the memory regions that a connection of sm can expose at a time: 4,096. */
  private static final int REPETITIONS = 4_500;

  @TempDir Path directory;

  static List<Example> examples() throws IOException {
    List<Path> files = new ArrayList<>();
    for (String module : MODULES) {
      try (Stream<Path> paths = Files.walk(Path.of("..", module, "src", "main", "java"))) {
        paths.filter(path -> path.toString().endsWith(".java")).sorted().forEach(files::add);
      }
    }
    return files.stream().flatMap(file -> examplesOf(file).stream()).collect(Collectors.toList());
  }

  @Test
  void theExamplesAreFound() throws IOException {
    assertThat(examples())
        .extracting(Example::place)
        .anyMatch(place -> place.startsWith("Ferrule.java:"))
        .anyMatch(place -> place.startsWith("FerruleMetrics.java:"))
        .hasSizeGreaterThan(10);
    assertThat(examples())
        .filteredOn(Example::isComplete)
        .extracting(Example::place)
        .anyMatch(place -> place.startsWith("package-info.java:"));
    assertThat(examplesOnAConnection()).hasSizeGreaterThan(5);
  }

  static List<Example> examplesOnAConnection() throws IOException {
    return examples().stream().filter(Example::isOnAConnection).collect(Collectors.toList());
  }

  /** An example that a user copies into a loop must release what it acquires. */
  @ParameterizedTest
  @MethodSource("examplesOnAConnection")
  void anExampleMayBeRepeatedOnItsConnection(Example example)
      throws IOException, InterruptedException {
    List<String> printed = run(example.repeated(REPETITIONS));

    assertThat(printed)
        .isEqualTo(
            Collections.nCopies(REPETITIONS, example.expectedLines()).stream()
                .flatMap(List::stream)
                .collect(Collectors.toList()));
  }

  @ParameterizedTest
  @MethodSource("examples")
  void anExamplePrintsWhatItsCommentsSay(Example example) throws IOException, InterruptedException {
    List<String> printed = run(example);

    if (example.statesTheWholeOutput()) {
      assertThat(printed).isEqualTo(example.expectedLines());
    } else {
      assertThat(printed).isNotEmpty().containsAll(example.expectedLines());
    }
  }

  /** Runs an example, which must succeed; returns its output. */
  private List<String> run(Example example) throws IOException, InterruptedException {
    compile(example);

    Path out = directory.resolve("out");
    Path err = directory.resolve("err");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1", // most examples run for a second
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                directory + System.getProperty("path.separator") + classPath(),
                CLASS_NAME)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    try {
      assertThat(process.waitFor(SECONDS, TimeUnit.SECONDS)).as("ended in time").isTrue();
    } finally {
      process.destroyForcibly();
    }

    assertThat(err).content().isEmpty();
    assertThat(process.exitValue()).isZero();
    return Files.readAllLines(out);
  }

  private void compile(Example example) throws IOException {
    Path source =
        Files.writeString(
            directory.resolve(CLASS_NAME + ".java"),
            example.source().replace(ADDRESS, "sm://" + directory + "/"));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter messages = new StringWriter();
    boolean compiled =
        compiler
            .getTask(
                messages,
                null,
                null,
                List.of("-proc:none", "-d", directory.toString(), "-cp", classPath()),
                null,
                compiler.getStandardFileManager(null, null, null).getJavaFileObjects(source))
            .call();
    assertThat(compiled).as("%s compiles: %s", example, messages).isTrue();
  }

  private static String classPath() {
    return System.getProperty("java.class.path");
  }

  private static List<Example> examplesOf(Path file) {
    String text;
    try {
      text = Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    List<Example> examples = new ArrayList<>();
    for (int at = text.indexOf(START); at >= 0; at = text.indexOf(START, at + 1)) {
      int start = at + START.length();
      String code = MARGIN.matcher(text.substring(start, end(text, start))).replaceAll("");
      long line = text.substring(0, at).lines().count();
      examples.add(new Example(file.getFileName() + ":" + line, code));
    }
    return examples;
  }

  /**
   * Returns the position of the brace that closes a snippet. The braces within it are balanced, as
   * in any Java code.
   */
  private static int end(String text, int start) {
    int depth = 1;
    for (int i = start; i < text.length(); i++) {
      if (text.charAt(i) == '{') {
        depth++;
      } else if (text.charAt(i) == '}' && --depth == 0) {
        return i;
      }
    }
    throw new AssertionError("a snippet is not closed");
  }

  /** A complete program or the body of a main method, and its place in the sources. */
  private record Example(String place, String code) {

    /** Returns the source of a class named {@link #CLASS_NAME}. */
    String source() {
      return isComplete() ? code : PROLOGUE + code + EPILOGUE;
    }

    boolean isComplete() {
      return code.contains("\nvoid main() {");
    }

    /** Returns the comments after the statements that print. */
    List<String> expectedLines() {
      return PRINTED
          .matcher(code)
          .results()
          .map(result -> result.group(2))
          .filter(line -> line != null)
          .collect(Collectors.toList());
    }

    boolean isOnAConnection() {
      return CONNECTED.matcher(code).find();
    }

    /** Returns the example with a loop around what it does with its connection. */
    Example repeated(int times) {
      Matcher connected = CONNECTED.matcher(code);
      if (!connected.find()) {
        throw new AssertionError("the example has no connection: " + place);
      }
      int end = end(code, connected.end());
      return new Example(
          place,
          code.substring(0, connected.end())
              + "for (int repetition = 0; repetition < "
              + times
              + "; repetition++) {"
              + code.substring(connected.end(), end)
              + "}"
              + code.substring(end));
    }

    boolean statesTheWholeOutput() {
      return expectedLines().size() == PRINTED.matcher(code).results().count();
    }

    @Override
    public String toString() {
      return place;
    }
  }
}
