// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The links and the Java examples of the documentation. */
class PagesTest {

  /** The declarations that the examples assume. */
  private static final String CONTEXT =
      """
      import module java.base;
      import dev.ferrule.*;

      abstract class Fragments {
        Connection connection;
        List<Connection> connections;
        Listener listener;
        Sender sender;
        BlockingQueue<Sender> queue;
        Receiver receiver;
        MessageHandler handler;
        MemorySegment message;
        MemorySegment answer;
        List<MemorySegment> parts;
        Rma rma;
        RemoteMemory remote;
        RegisteredMemory local;
        io.micrometer.core.instrument.MeterRegistry registry;

        abstract void acceptAll(Listener listener);
      """;

  private static final Pattern METHOD =
      Pattern.compile("`((?:[A-Z]\\w+\\.)*[A-Z]\\w+)\\.([a-z]\\w+)[(`]");

  @TempDir Path directory;

  @Test
  void everyLinkRefersToAnExistingFileAndAnchor() throws IOException {
    List<String> broken = new ArrayList<>();
    int links = 0;
    for (Page page : Page.all()) {
      for (String link : page.links()) {
        links++;
        if (!resolves(page, link)) {
          broken.add(Page.ROOT.relativize(page.file()) + ": " + link);
        }
      }
    }
    assertThat(links).isGreaterThan(100);
    assertThat(broken).isEmpty();
  }

  private static boolean resolves(Page from, String link) throws IOException {
    String[] fileAndAnchor = link.split("#", 2);
    Path file =
        fileAndAnchor[0].isEmpty() ? from.file() : from.file().resolveSibling(fileAndAnchor[0]);
    return Files.exists(file)
        && (fileAndAnchor.length == 1
            || new Page(file, Files.readString(file)).anchors().contains(fileAndAnchor[1]));
  }

  @ParameterizedTest
  @CsvSource({"docs/guide.md, 15", "docs/guide-sm.md, 3"})
  void theExamplesOfAGuideCompile(String name, int atLeast) throws IOException {
    List<String> fragments = Page.of(name).fragments();
    assertThat(fragments).hasSizeGreaterThan(atLeast);
    StringBuilder source = new StringBuilder(CONTEXT);
    for (int i = 0; i < fragments.size(); i++) {
      source.append("void example" + i + "() throws Exception {\n" + fragments.get(i) + "}\n");
    }
    assertThat(errors(source.append("}\n").toString())).isEmpty();
  }

  @Test
  void theTableOfFailuresHasEveryExceptionOfTheApi() throws IOException {
    String guide = Page.of("docs/guide.md").text();
    String failures = guide.substring(guide.indexOf("## Failures"), guide.indexOf("## Closing"));
    try (Stream<Path> files = Files.list(Page.ROOT.resolve("api/src/main/java/dev/ferrule"))) {
      List<String> exceptions =
          files
              .map(file -> file.getFileName().toString().replace(".java", ""))
              .filter(name -> name.endsWith("Exception") && !name.equals("FerruleException"))
              .map(name -> "`" + name + "`")
              .toList();
      assertThat(exceptions).isNotEmpty();
      assertThat(failures.lines().filter(line -> line.startsWith("| `")))
          .extracting(line -> line.split("\\|")[1])
          .satisfies(rows -> assertThat(String.join("", rows)).contains(exceptions));
    }
  }

  /** A page names a method as in {@code Sender.maxMessage()}, with or without arguments. */
  @ParameterizedTest
  @ValueSource(strings = {"README.md", "docs/guide.md", "docs/guide-sm.md", "docs/options.md"})
  void everyMethodOfTheApiThatAPageNamesExists(String name) throws IOException {
    List<String> unknown = new ArrayList<>();
    int named = 0;
    for (Matcher code = METHOD.matcher(Page.of(name).text()); code.find(); ) {
      Optional<Class<?>> type = apiType(code.group(1).replace('.', '$'));
      if (type.isPresent()) {
        named++;
        if (Stream.of(type.get().getMethods())
            .noneMatch(method -> method.getName().equals(code.group(2)))) {
          unknown.add(code.group());
        }
      }
    }
    assertThat(named).isPositive();
    assertThat(unknown).isEmpty();
  }

  private static Optional<Class<?>> apiType(String name) {
    try {
      return Optional.of(Class.forName("dev.ferrule." + name));
    } catch (ClassNotFoundException e) {
      return Optional.empty(); // of the JDK, or an example
    }
  }

  private String errors(String source) throws IOException {
    Path file = Files.writeString(directory.resolve("Fragments.java"), source);
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter messages = new StringWriter();
    List<String> options =
        List.of(
            "-proc:none", "-d", directory.toString(), "-cp", System.getProperty("java.class.path"));
    compiler
        .getTask(
            messages,
            null,
            null,
            options,
            null,
            compiler.getStandardFileManager(null, null, null).getJavaFileObjects(file))
        .call();
    return messages.toString();
  }
}
