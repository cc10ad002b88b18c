// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectPackage;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.integration.Rehearsal.Call;
import dev.ferrule.lab.compare.CompareCommand;
import dev.ferrule.lab.compare.concurrency.ManyConnections;
import dev.ferrule.tools.Main;
import dev.ferrule.tools.ParsedCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import picocli.CommandLine;

/**
 * Every command in a block of a page exists, is called with options and values that it has, and is
 * run by a test: here, if it needs only this host, with fewer messages and rounds; on a device by
 * {@code PageCommandsDeviceTest}; or by the test that {@link #RUN_BY} names.
 */
@Tag("long")
class PageCommandsTest {

  private static final Duration PATIENCE = Duration.ofSeconds(120);

  /** The beginnings of commands that another test runs, after their page, and that test. */
  private static final Map<String, String> RUN_BY =
      Map.ofEntries(
          Map.entry("README.md: ./release ", "ReleaseTest"),
          Map.entry("docs/guide-sm.md: docker volume create ", "UsersTest"),
          Map.entry("docs/guide-sm.md: docker run -d --name server ", "ComposeExampleTest"),
          Map.entry("docs/guide-sm.md: docker run -d --name client ", "ComposeExampleTest"),
          Map.entry("docs/guide.md: ./ferrule evaluate --server ", "TwoHostsEvaluationTest"),
          Map.entry("docs/guide.md: ./with-rxe ./ferrule evaluate ", "ExperimentsTest"),
          Map.entry("docs/guide.md: ./ferrule evaluate --quick --peers ", "PeerExperimentsTest"),
          Map.entry("docs/install.md: ./dist tar", "DistTest"),
          Map.entry("docs/install.md: tar ", "DistTest"),
          Map.entry("docs/install.md: dpkg ", "DistContainersTest"),
          Map.entry("docs/install.md: docker ", "DistContainersTest"),
          Map.entry("docs/install.md: ln ", "DistTest"),
          Map.entry("docs/install.md: ferrule-0", "DistTest"),
          Map.entry("docs/json.md: ./ferrule ", "JsonPageTest"),
          Map.entry("docs/json.md: ./compare ", "JsonPageTest"),
          Map.entry("docs/performance.md: ./compare", "CompareCommandTest"),
          Map.entry("docs/performance.md: ./ferrule evaluate ", "PeerExperimentsTest"),
          Map.entry(
              "docs/performance.md: build-support/many-connections.sh", "ConcurrencyBenchmarkTest"),
          Map.entry("docs/rdma.md: ./ferrule doctor --rdma", "RdmaStepsTest"),
          Map.entry(
              "docs/rdma.md: FERRULE_TOKEN=$(openssl rand -hex 16) ", "TwoHostsEvaluationTest"),
          Map.entry("docs/rdma.md: ./ferrule serve --for-evaluation ", "TwoHostsEvaluationTest"),
          Map.entry("docs/rdma.md: export FERRULE_TOKEN=", "TwoHostsEvaluationTest"),
          Map.entry("docs/rdma.md: ./ferrule evaluate --server ", "TwoHostsEvaluationTest"),
          Map.entry("docs/security.md: docker run --user ", "UsersTest"),
          Map.entry("docs/verbs.md: ./with-rxe bash -c 'java ", "VerbsExampleTest"),
          Map.entry("examples/README.md: ./with-rxe bash -c 'java ", "VerbsExampleTest"),
          Map.entry("examples/README.md: java ", "ExamplesTest"),
          Map.entry("examples/README.md: curl ", "ExamplesTest"),
          Map.entry("examples/README.md: docker compose ", "ComposeExampleTest"));

  /** The beginnings of commands that no test runs, after their page, and why. */
  private static final Map<String, String> NOT_RUN =
      Map.of(
          "docs/rdma.md: mkdir /sys/", "configures the card mlx5_0",
          "docs/rdma.md: echo 104 > /sys/", "configures the card mlx5_0",
          "docs/guide.md: ./with-rxe --with-tools ",
              "perftest takes minutes on emulated processors",
          "docs/performance.md: ./with-rxe --with-tools ",
              "perftest takes minutes on emulated processors",
          "docs/install.md: scp ", "needs a second host; DistTest runs the archive's command",
          "docs/install.md: ssh ", "needs a second host",
          "docs/install.md: ferrule-*/bin/ferrule latency ", "needs a second host",
          "examples/README.md: ./mvnw ", "./test has built the module by the same phase of Maven");

  private static final Set<String> OTHER_PROPERTIES =
      Set.of("surefire.failIfNoSpecifiedTests", "junit.jupiter.execution.timeout.mode");

  /** Options of JMH that have a value, and some that have none. */
  private static final Set<String> JMH_VALUES =
      Set.of("-f", "-wi", "-w", "-i", "-r", "-p", "-prof", "-jvmArgsAppend", "-t");

  private static final Pattern NUMBER =
      Pattern.compile("(?<![A-Za-z\\d.,])\\d+(?:[.,:]\\d+)*(?: [kMG](?![A-Za-z]))?|(?<= )-(?= |$)");

  private static final Set<String> STATES = Set.of("ok", "missing", "warn");

  /** The texts of all classes of tests, by their file. */
  private static Map<Path, String> testSources;

  private static Set<String> tests;

  @TempDir Path folder;

  private Rehearsal rehearsal;
  private final List<Process> started = new ArrayList<>();

  static List<String> pages() throws IOException {
    return PageCommand.blocks().stream().map(block -> block.getFirst().page()).distinct().toList();
  }

  @BeforeAll
  static void findTests() throws IOException {
    testSources = new HashMap<>();
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
    tests = new TreeSet<>();
    plan.getRoots()
        .forEach(root ->
            plan.getDescendants(root).stream()
                .map(TestIdentifier::getUniqueIdObject)
                .map(id -> TestName.of(id).toString())
                .forEach(tests::add));
  }

  private static void addSources(Path folder) throws IOException {
    if (Files.isDirectory(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
          testSources.put(file, Files.readString(file));
        }
      }
    }
  }

  @BeforeEach
  void prepare() throws IOException {
    rehearsal = new Rehearsal(folder);
  }

  @AfterEach
  void end() throws Exception {
    rehearsal.close();
    for (Process process : started) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
    }
  }

  private static List<List<PageCommand>> blocksOf(String page) throws IOException {
    return PageCommand.blocks().stream()
        .filter(block -> block.getFirst().page().equals(page))
        .toList();
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyCommandExistsAndHasItsOptions(String page) throws Exception {
    for (List<PageCommand> block : blocksOf(page)) {
      for (PageCommand command : block) {
        for (Call call : rehearsal.calls(command, block.getFirst().line())) {
          check(command, call);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyCommandIsRun(String page) throws Exception {
    for (List<PageCommand> block : blocksOf(page)) {
      List<PageCommand> here = new ArrayList<>();
      for (PageCommand command : block) {
        List<Call> calls = rehearsal.calls(command, block.getFirst().line());
        if (runsHere(command, calls)) {
          here.add(command);
        } else {
          assertThat(isRunElsewhere(command, calls))
              .as(
                  "%s: no test runs this. If it is a command, let a test run it and name that in"
                      + " PageCommandsTest.RUN_BY, or the reason in NOT_RUN; if it is a formula or"
                      + " a diagram, fence it as ```text",
                  command.place())
              .isTrue();
        }
      }
      run(block.getFirst().line(), here);
    }
  }

  @Test
  void theTestsOfTheTableExistAndNoEntryIsLeftOver() throws Exception {
    assertThat(RUN_BY.values())
        .allSatisfy(name ->
            assertThat(testSources.keySet()).anyMatch(file -> file.endsWith(name + ".java")));
    List<PageCommand> commands = PageCommand.blocks().stream().flatMap(List::stream).toList();
    assertThat(Stream.concat(RUN_BY.keySet().stream(), NOT_RUN.keySet().stream()))
        .allSatisfy(
            key -> assertThat(commands).anyMatch(command -> described(command).startsWith(key)));
    assertThat(NOT_RUN).as("exceptions").hasSizeLessThan(10);
  }

  private static String described(PageCommand command) {
    return command.page() + ": " + command.text();
  }

  private static Optional<String> find(Map<String, String> table, PageCommand command) {
    return table.entrySet().stream()
        .filter(entry -> described(command).startsWith(entry.getKey()))
        .map(Map.Entry::getValue)
        .findFirst();
  }

  /** Returns whether a command runs in this test: over shared memory, without a device. */
  private static boolean runsHere(PageCommand command, List<Call> calls) {
    return !calls.isEmpty()
        && find(RUN_BY, command).isEmpty()
        && find(NOT_RUN, command).isEmpty()
        && calls.stream()
            .allMatch(call ->
                !call.onDevice()
                    && Set.of("ferrule", "compare", "java", "javac", "jfr").contains(call.program())
                    && !PageCommand.needsDevice(call.arguments()));
  }

  private static boolean isRunElsewhere(PageCommand command, List<Call> calls) {
    return find(RUN_BY, command).isPresent()
        || find(NOT_RUN, command).isPresent()
        || !calls.isEmpty()
            && calls.stream()
                .allMatch(call ->
                    // the tests that ./test names are run by ./test
                    Set.of("test", "benchmark", "with-rxe").contains(call.program())
                        || call.program().equals("ferrule")
                            && PageCommand.isRunOnDevice(call.arguments(), call.onDevice()));
  }

  // The options and values of a command.

  private void check(PageCommand command, Call call) throws Exception {
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

  private static void checkTest(PageCommand command, List<String> arguments) {
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
  private static void checkTestName(PageCommand command, String name, List<String> modules) {
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

  private void checkJava(PageCommand command, List<String> arguments) throws IOException {
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

  // The run of the commands of a block, in a folder of the test.

  private void run(int block, List<PageCommand> commands) throws Exception {
    if (commands.isEmpty()) {
      return;
    }
    Path memory = rehearsal.sharedMemory(block);
    Files.writeString(rehearsal.root().resolve("original"), "the bytes of a file");
    Files.createDirectories(rehearsal.root().resolve("evaluation"));
    Files.writeString(rehearsal.root().resolve("evaluation/params.json"), parameters());
    for (String name : List.of("Server.java", "Client.java")) {
      Files.writeString(
          rehearsal.root().resolve(name),
          Page.of("README.md").program(name).replace("sm:///dev/shm/", "sm://" + memory + "/"));
    }
    boolean observes =
        commands.stream().anyMatch(command -> command.text().matches(".* (ls|top) .*"));
    try (Fixture _ = observes ? new Fixture(memory.resolve("app")) : null) {
      Map<PageCommand, Process> servers = new LinkedHashMap<>();
      for (PageCommand command : commands) {
        if (isServer(command)) {
          servers.put(command, startServer(command, block));
          Optional<PageCommand> client = missingClient(command, commands);
          if (client.isPresent()) {
            runToEnd(client.get(), block);
          }
        } else {
          runToEnd(command, block);
        }
      }
      for (Map.Entry<PageCommand, Process> server : servers.entrySet()) {
        if (!server.getKey().text().contains(" serve ")) {
          assertThat(server.getValue().waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS))
              .as("%s: ends with its client", server.getKey().place())
              .isTrue();
          assertThat(server.getValue().exitValue()).as(server.getKey().place()).isZero();
        }
      }
    }
    Path copy = rehearsal.root().resolve("copy");
    if (Files.exists(copy)) {
      assertThat(copy).hasSameBinaryContentAs(rehearsal.root().resolve("original"));
      Files.delete(copy);
    }
  }

  /** Returns the parameters of the performance model that docs/model.md shows. */
  private static String parameters() throws IOException {
    String page = Page.of("docs/model.md").text();
    int start = page.indexOf("{\"providers\"");
    return page.substring(start, page.indexOf("}}]}", start) + 4);
  }

  private static boolean isServer(PageCommand command) {
    return command
        .text()
        .matches("(?s)\\S*ferrule (serve|listen) .*|java .* Server(\\.java)?( &)?");
  }

  /** Returns the client of a Java program that is the only command of its block. */
  private static Optional<PageCommand> missingClient(
      PageCommand server, List<PageCommand> commands) {
    return commands.size() > 1 || !server.text().startsWith("java ")
        ? Optional.empty()
        : Optional.of(
            new PageCommand(
                server.page(),
                server.line() + 1,
                server
                    .text()
                    .replace("Server.java", "Client.java")
                    .replaceFirst("-XX:StartFlightRecording:\\S+ ", ""),
                List.of()));
  }

  private Path output(PageCommand command) {
    return folder.resolve("output" + command.line());
  }

  private Process startServer(PageCommand command, int block) throws Exception {
    Process process = rehearsal.start(command, block, output(command));
    started.add(process);
    long end = System.nanoTime() + PATIENCE.toNanos();
    String ready = command.text().startsWith("java ") ? "listening at " : "\n";
    while (!Files.readString(output(command)).contains(ready)) {
      assertThat(process.isAlive() && System.nanoTime() < end)
          .as("%s: %s", command.place(), Files.readString(output(command)))
          .isTrue();
      Thread.onSpinWait();
    }
    assertShown(command, block);
    return process;
  }

  private void runToEnd(PageCommand command, int block) throws Exception {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      Process process = rehearsal.start(command, block, output(command));
      started.add(process);
      process.getOutputStream().close();
      assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS))
          .as("%s: has not ended: %s", command.place(), Files.readString(output(command)))
          .isTrue();
      assertThat(process.exitValue())
          .as("%s: %s", command.place(), Files.readString(output(command)))
          .isZero();
      if (!command.text().contains(" top ")) {
        break;
      }
      // The processes report their counters for the first time within a second.
      if (isShown(command, block) || System.nanoTime() > end) {
        break;
      }
    }
    assertShown(command, block);
  }

  private boolean isShown(PageCommand command, int block) throws IOException {
    try {
      assertShown(command, block);
      return true;
    } catch (AssertionError e) {
      return false;
    }
  }

  /** Checks that the lines that a page shows are among those of the output, in this order. */
  private void assertShown(PageCommand command, int block) throws IOException {
    String output =
        Files.readString(output(command))
            .replaceAll(Pattern.quote(folder + "/shm") + "\\d+", "/dev/shm")
            .replace(System.getProperty("java.vendor"), "Eclipse Adoptium")
            .replace(System.getProperty("java.runtime.version"), "25.0.3+9-LTS");
    boolean isDoctor = command.text().endsWith("doctor");
    List<String> lines = output.lines().map(PageCommandsTest::masked).toList();
    int next = 0;
    for (String shown : command.shown()) {
      Pattern pattern = pattern(shown, isDoctor ? lines : List.of());
      int at = next;
      while (at < lines.size() && !pattern.matcher(lines.get(at)).matches()) {
        at++;
      }
      assertThat(at)
          .as("%s\nshows:   %s\nprints:\n%s", command.place(), shown, output)
          .isLessThan(lines.size());
      next = pattern.pattern().equals(".*") ? next : at + 1;
    }
  }

  /**
   * Returns the lines that a shown one stands for. Of a line of {@code doctor} about something that
   * differs on this machine, only the name is compared, and not how to fix it.
   */
  private static Pattern pattern(String shown, List<String> doctor) {
    if (shown.equals("...")) {
      return Pattern.compile(".*");
    }
    String masked = masked(shown);
    if (!doctor.isEmpty()) {
      if (masked.startsWith("fix:")) {
        return Pattern.compile(".*");
      }
      String state = masked.substring(0, masked.indexOf(' '));
      assertThat(STATES).contains(state);
      String name = shown.substring(9, 29).strip();
      if (doctor.stream().noneMatch(line -> line.startsWith(state + " " + name + " "))) {
        return Pattern.compile("\\w+ " + Pattern.quote(name) + " .*");
      }
    }
    return Pattern.compile(
        Stream.of(masked.split("…", -1)).map(Pattern::quote).collect(Collectors.joining(".*")));
  }

  private static String masked(String line) {
    return NUMBER
        .matcher(line.strip().replaceAll("\\s+", " "))
        .replaceAll("#")
        .replaceAll("wait (spin|adaptive), (on CPU #|not pinned)", "wait *");
  }

  /** Two endpoints with a connection between them, which {@code ls} and {@code top} show. */
  private static final class Fixture implements AutoCloseable {

    private final Listener listener;
    private final Connection client;
    private final Connection server;

    Fixture(Path directory) {
      listener = Ferrule.listen(URI.create("sm://" + directory));
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
      server = listener.accept();
      client = connecting.join();
    }

    @Override
    public void close() {
      client.close();
      server.close();
      listener.close();
    }
  }
}
