// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectPackage;

import dev.ferrule.integration.Rehearsal.Call;
import dev.ferrule.lab.compare.CompareCommand;
import dev.ferrule.lab.compare.concurrency.ManyConnections;
import dev.ferrule.tools.Main;
import dev.ferrule.tools.ParsedCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import picocli.CommandLine;

/**
 * Checks that commands of pages have options, values and names that exist, without running them.
 */
final class PageCommandCheck {

  private static final Set<String> OTHER_PROPERTIES =
      Set.of("surefire.failIfNoSpecifiedTests", "junit.jupiter.execution.timeout.mode");

  /** Options of JMH that have a value, and some that have none. */
  private static final Set<String> JMH_VALUES =
      Set.of("-f", "-wi", "-w", "-i", "-r", "-p", "-prof", "-jvmArgsAppend", "-t");

  /** The texts of all classes of tests, by their file. */
  private final Map<Path, String> testSources = new HashMap<>();

  /** The tests that {@code ./test --tests} selects from. */
  private final Set<String> tests = new TreeSet<>();

  PageCommandCheck() throws IOException {
    try (Stream<Path> modules = Files.list(Page.ROOT)) {
      for (Path module : modules.toList()) {
        addSources(module.resolve("src/test/java"));
      }
    }
    addSources(Page.ROOT.resolve("contract/src/main/java"));
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(selectPackage("dev.ferrule.integration"))
            .filters(
                TagFilter.includeTags("rdma", "rdma-two", "huge-pages", "emulated", "containers"))
            .build();
    TestPlan plan = LauncherFactory.create().discover(request);
    plan.getRoots()
        .forEach(root ->
            plan.getDescendants(root).stream()
                .map(TestIdentifier::getUniqueIdObject)
                .map(id -> TestName.of(id).toString())
                .forEach(tests::add));
  }

  private void addSources(Path folder) throws IOException {
    if (Files.isDirectory(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
          testSources.put(file, Files.readString(file));
        }
      }
    }
  }

  /** Returns whether there is a class of tests of this name. */
  boolean isTestClass(String name) {
    return testSources.keySet().stream().anyMatch(file -> file.endsWith(name + ".java"));
  }

  /** Checks that the program of a call accepts its arguments. */
  void check(PageCommand command, Call call) throws Exception {
    List<String> arguments = call.arguments();
    String[] array = arguments.toArray(String[]::new);
    switch (call.program()) {
      case "ferrule" -> checkFerrule(command, array);
      case "compare" -> checkCompare(command, arguments);
      case "many-connections.sh" ->
          ParsedCommand.configure(new CommandLine(ManyConnections.class)).parseArgs(array);
      case "test" -> checkTest(command, arguments);
      case "benchmark" -> checkBenchmark(command, arguments);
      case "java", "javac" -> checkJava(command, arguments);
      default -> {} // the script itself has parsed them, or a program of the system
    }
  }

  private static void checkFerrule(PageCommand command, String[] arguments) {
    try {
      ParsedCommand.of(arguments);
    } catch (CommandLine.ParameterException e) {
      throw new AssertionError(command.place() + ": " + e.getMessage(), e);
    }
    if (arguments[0].equals("evaluate")) { // the list checks the names of the experiments
      String[] list =
          Stream.concat(Stream.of(arguments), Stream.of("--list")).toArray(String[]::new);
      StringWriter errors = new StringWriter();
      int code = Main.run(new PrintWriter(new StringWriter()), new PrintWriter(errors, true), list);
      assertThat(code).as("%s: %s", command.place(), errors).isZero();
    }
  }

  /** Calls compare with no rounds, which it rejects after it has checked everything else. */
  private static void checkCompare(PageCommand command, List<String> arguments) {
    List<String> none = new ArrayList<>(arguments);
    if (none.contains("--rounds")) {
      none.set(none.indexOf("--rounds") + 1, "0");
    } else {
      none.addAll(List.of("--rounds", "0"));
    }
    StringWriter errors = new StringWriter();
    CompareCommand.run(
        new PrintWriter(new StringWriter()),
        new PrintWriter(errors, true),
        none.toArray(String[]::new));
    assertThat(errors.toString()).as(command.place()).contains("--rounds must be at least 1");
  }

  private void checkTest(PageCommand command, List<String> arguments) {
    List<String> modules = new ArrayList<>();
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      if (argument.equals("-pl")) {
        modules.addAll(List.of(arguments.get(i + 1).split(",")));
        for (String module : modules) {
          assertThat(Page.ROOT.resolve(module).resolve("pom.xml")).as(command.place()).exists();
        }
      } else if (argument.startsWith("-Dtest=")) {
        for (String name : argument.substring("-Dtest=".length()).split(",")) {
          checkTestName(command, name, modules);
        }
      } else if (argument.startsWith("-D")) {
        String property = argument.substring(2).replaceFirst("=.*", "");
        assertThat(
                OTHER_PROPERTIES.contains(property)
                    || testSources.values().stream()
                        .anyMatch(text -> text.contains('"' + property + '"')))
            .as("%s: no test reads the property %s", command.place(), property)
            .isTrue();
      } else if (argument.equals("--tests")) {
        for (String alternative : arguments.get(i + 1).split("\\|")) {
          assertThat(tests)
              .as("%s: the tests that %s selects", command.place(), alternative)
              .anyMatch(TestPick.matching(alternative));
        }
      }
    }
  }

  /** Checks that a module has a class of tests, and that a test has the method, if one is named. */
  private void checkTestName(PageCommand command, String name, List<String> modules) {
    String[] classAndMethod = name.split("#", 2);
    assertThat(testSources.keySet())
        .as("%s: the test %s in %s", command.place(), name, modules)
        .anyMatch(file ->
            file.endsWith(classAndMethod[0] + ".java")
                && (modules.isEmpty()
                    || modules.contains(Page.ROOT.relativize(file).getName(0).toString())));
    if (classAndMethod.length == 2) {
      assertThat(testSources.values())
          .as("%s: the method of the test %s", command.place(), name)
          .anyMatch(text -> text.contains("void " + classAndMethod[1] + "("));
    }
  }

  private static void checkBenchmark(PageCommand command, List<String> arguments)
      throws IOException {
    Map<String, String> benchmarks = new HashMap<>(); // the names, with the source of their class
    try (Stream<Path> files = Files.walk(Page.ROOT.resolve("benchmarks/src/main/java"))) {
      for (Path file : files.filter(path -> path.toString().endsWith("Benchmark.java")).toList()) {
        String text = Files.readString(file);
        String type = file.getFileName().toString().replace(".java", "");
        Pattern.compile("@Benchmark\\s+(?:@\\S+\\s+)*public \\S+ (\\w+)\\(")
            .matcher(text)
            .results()
            .forEach(method -> benchmarks.put(type + "." + method.group(1), text));
      }
    }
    assertThat(benchmarks).hasSizeGreaterThan(10);
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      if (argument.startsWith("-")) {
        assertThat(JMH_VALUES).as(command.place()).contains(argument);
        i++;
        if (argument.equals("-p")) {
          String parameter = arguments.get(i).replaceFirst("=.*", "");
          assertThat(benchmarks.values())
              .as("%s: the parameter %s", command.place(), parameter)
              .anyMatch(
                  text -> Pattern.compile("@Param[^;]* " + parameter + ";").matcher(text).find());
        }
      } else {
        assertThat(benchmarks.keySet())
            .as(command.place())
            .anyMatch(name -> Pattern.compile(argument).matcher(name).find());
        for (String alternative :
            argument.contains("(") ? List.<String>of() : List.of(argument.split("\\|"))) {
          assertThat(benchmarks.keySet())
              .as("%s: the benchmarks of %s", command.place(), alternative)
              .anyMatch(name -> name.contains(alternative));
        }
      }
    }
  }

  private static void checkJava(PageCommand command, List<String> arguments) throws IOException {
    String classPath = arguments.get(arguments.indexOf("-cp") + 1);
    assertThat(classPath)
        .as(command.place())
        .matches("(classes:)?(tools/target/ferrule|micrometer/target/metrics)/lib/\\*");
    List<String> programs =
        arguments.subList(arguments.indexOf("-cp") + 2, arguments.size()).stream()
            .filter(word -> word.endsWith(".java") || Set.of("Server", "Client").contains(word))
            .toList();
    assertThat(programs).as(command.place()).isNotEmpty();
    for (String program : programs) {
      if (program.contains("/")) {
        assertThat(Page.ROOT.resolve(program)).as(command.place()).isRegularFile();
      } else {
        Page.of("README.md").program(program.replace(".java", "") + ".java");
      }
    }
  }
}
