// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static dev.ferrule.integration.JavaPrograms.awaitListening;
import static dev.ferrule.integration.JavaPrograms.outputOf;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * The programs in {@code examples}, run by the commands of its README over shared memory. {@code
 * VerbsExampleTest} runs the one that needs a device, {@code ComposeExampleTest} the containers.
 */
@Tag("long")
class ExamplesTest {

  private static final int LINES = 150;

  /** The exit code of a JVM that SIGTERM has ended. */
  private static final int TERMINATED = 128 + 15;

  @TempDir Path directory;
  @RegisterExtension final JavaPrograms programs = new JavaPrograms();

  private String address() {
    return "sm://" + directory.resolve("app");
  }

  /** Starts a program by its command, with values for the placeholders, and with options. */
  private Process start(String program, String... arguments) throws IOException {
    return start(program, ProcessBuilder.Redirect.INHERIT, arguments);
  }

  private Process start(String program, ProcessBuilder.Redirect errors, String... arguments)
      throws IOException {
    ExamplesPage.Command command = ExamplesPage.command(program);
    assertThat(arguments).hasSizeGreaterThanOrEqualTo(command.placeholders().size());
    return programs.start(command.source(), List.of(arguments), errors);
  }

  private Process startServer(String program, String... arguments) throws IOException {
    return awaitListening(start(program, arguments));
  }

  private static void signal(String name, Process process) throws Exception {
    assertThat(new ProcessBuilder("kill", "-" + name, "" + process.pid()).start().waitFor())
        .isZero();
  }

  private static List<Path> sources(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    }
  }

  @Test
  void everyExampleIsShortAndHasItsLineAndItsCommandsInTheReadme() throws IOException {
    List<Path> programs = new ArrayList<>();
    for (Path folder : ExamplesPage.folders()) {
      assertThat(ExamplesPage.text())
          .containsOnlyOnce("\n[" + folder.getFileName() + "](" + folder.getFileName() + "): ");
      int lines = 0;
      try (Stream<Path> files = Files.list(folder)) {
        for (Path file : files.toList()) {
          lines += Files.readAllLines(file).size();
        }
      }
      assertThat(lines).as(folder.toString()).isPositive().isLessThan(LINES);
      sources(folder).forEach(source -> programs.add(Page.ROOT.relativize(source)));
    }
    assertThat(ExamplesPage.folders()).hasSize(10);
    assertThat(ExamplesPage.commands().stream().map(ExamplesPage.Command::source).distinct())
        .containsExactlyInAnyOrderElementsOf(programs);
  }

  @Test
  void everyExampleCompilesWithoutAWarning() throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<String> options =
        List.of(
            // The class path has folders that do not exist, and annotation processors of tests.
            "-Xlint:all,-path,-processing",
            "-Werror",
            "-proc:none",
            "-d",
            directory.toString(),
            "-cp",
            System.getProperty("java.class.path"));
    Map<String, String> messages = new TreeMap<>();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      for (Path folder : ExamplesPage.folders()) {
        for (Path source : sources(folder)) {
          StringWriter output = new StringWriter();
          compiler
              .getTask(output, files, null, options, null, files.getJavaFileObjects(source))
              .call();
          messages.put(source.toString(), output.toString());
        }
      }
    }
    assertThat(messages)
        .hasSizeGreaterThan(10)
        .allSatisfy((file, text) -> assertThat(text).isEmpty());
  }

  @Test
  void everyProgramReportsAWrongAddressInOneLine() throws Exception {
    Map<String, Process> started = new TreeMap<>();
    for (ExamplesPage.Command command : ExamplesPage.commands()) {
      String program = command.source().toString();
      if (!started.containsKey(program) && !program.contains("raw-verbs")) {
        List<String> arguments = new ArrayList<>();
        command.placeholders().forEach(name -> arguments.add(directory.resolve("f").toString()));
        arguments.add("smm:///dev/shm/app");
        Files.writeString(directory.resolve("f"), "content");
        started.put(
            program, programs.start(command.source(), arguments, ProcessBuilder.Redirect.PIPE));
      }
    }
    for (Map.Entry<String, Process> each : started.entrySet()) {
      assertThat(each.getValue().errorReader().lines().toList())
          .as(each.getKey())
          .singleElement()
          .asString()
          .contains("no provider for the scheme 'smm'");
      assertThat(each.getValue().waitFor()).isEqualTo(1);
    }
  }

  @Test
  void aServerRepliesWithTheNumbersOfTheRequestsAndContinuesWhenAClientIsKilled() throws Exception {
    Process waiting = start("request-reply/Client.java", address()); // before the server
    Process server = startServer("request-reply/Server.java", address());
    assertReplies(waiting);
    assertThat(server.inputReader().readLine()).isEqualTo("a client has closed");

    assertReplies(start("request-reply/Client.java", address()));
    assertThat(server.inputReader().readLine()).isEqualTo("a client has closed");
  }

  private static void assertReplies(Process client) throws Exception {
    assertThat(client.inputReader().readLine()).startsWith("connected to sm:");
    assertThat(outputOf(client)).containsExactly("one -> ONE", "two -> TWO", "three -> THREE");
  }

  @Test
  void aPublisherContinuesAfterTheDeathOfASubscriberAndDoesNotWaitForASlowOne() throws Exception {
    Process publisher = startServer("publish/Publisher.java", address());
    BufferedReader events = publisher.inputReader();
    Process killed = start("publish/Subscriber.java", address(), "1000000");
    assertThat(killed.inputReader().readLine()).startsWith("the first update is number ");
    assertThat(events.readLine()).isEqualTo("a subscriber has joined");
    killed.destroyForcibly().waitFor();
    assertThat(events.readLine()).startsWith("a subscriber has left: ");

    // With a ring of 4 KiB a stopped subscriber misses updates soon.
    Process slow = start("publish/Subscriber.java", address() + "?ring=4KiB&buffer=0", "1000");
    assertThat(slow.inputReader().readLine()).startsWith("the first update is number ");
    assertThat(events.readLine()).isEqualTo("a subscriber has joined");
    signal("STOP", slow);
    assertThat(events.readLine()).isEqualTo("a subscriber is slow and misses updates");

    Process fast = start("publish/Subscriber.java", address(), "100");
    assertThat(fast.inputReader().readLine()).startsWith("the first update is number ");
    assertThat(outputOf(fast)).containsExactly("received 100 updates, missed 0");
    signal("CONT", slow);
    assertThat(outputOf(slow))
        .singleElement()
        .asString()
        .matches("received 1000 updates, missed [1-9]\\d*");
  }

  private static String ask(Process client, String request) throws IOException {
    client.outputWriter().append(request + "\n").flush();
    return client.inputReader().readLine();
  }

  private Process startKeyValueClient(ProcessBuilder.Redirect errors) throws IOException {
    Process client = start("key-value/Client.java", errors, address());
    assertThat(client.inputReader().readLine()).startsWith("connected to sm:");
    return client;
  }

  @Test
  void aKeyValueServerServesManyClientsAndStopsGracefullyOnSigterm() throws Exception {
    Process server = startServer("key-value/Server.java", address());
    Process one = startKeyValueClient(ProcessBuilder.Redirect.PIPE);
    Process other = startKeyValueClient(ProcessBuilder.Redirect.INHERIT);
    Process killed = startKeyValueClient(ProcessBuilder.Redirect.INHERIT);
    assertThat(ask(one, "put color light blue")).isEqualTo("stored");
    assertThat(ask(other, "get color")).isEqualTo("light blue");
    assertThat(ask(one, "get size")).isEqualTo("no such key");
    assertThat(ask(one, "del color")).startsWith("unknown request");
    assertThat(ask(one, "put long " + "x".repeat(5000))).contains("4096");
    other.outputWriter().close();
    assertThat(outputOf(other)).isEmpty();
    assertThat(server.inputReader().readLine()).isEqualTo("a client has closed");
    killed.destroyForcibly().waitFor();
    assertThat(server.inputReader().readLine()).startsWith("a client was lost: ");
    assertThat(ask(one, "get color")).isEqualTo("light blue");

    signal("TERM", server);
    assertThat(server.inputReader().lines()).containsExactly("stopped");
    assertThat(server.waitFor()).isEqualTo(TERMINATED);
    one.outputWriter().append("get color\n").flush();
    assertThat(one.errorReader().lines()).containsExactly("the server has stopped");
    assertThat(one.waitFor()).isEqualTo(1);
  }

  @Test
  void aFileIsCopiedAndNoPartOfItRemainsWhenItsSenderIsKilled() throws Exception {
    byte[] bytes = new byte[5_000_001]; // fills both slots twice
    new Random(1).nextBytes(bytes);
    Path original = Files.write(directory.resolve("original"), bytes);
    Path copy = directory.resolve("copy");
    Process receiver = startServer("file-copy/Receive.java", copy.toString(), address());
    assertThat(outputOf(start("file-copy/Send.java", original.toString(), address())))
        .containsExactly("stored 5000001 bytes");
    assertThat(outputOf(receiver)).containsExactly("stored 5000001 bytes");
    assertThat(copy).hasBinaryContent(bytes);

    Path incomplete = directory.resolve("incomplete");
    Process second =
        awaitListening(
            start(
                "file-copy/Receive.java",
                ProcessBuilder.Redirect.PIPE,
                incomplete.toString(),
                address()));
    // A pipe is a file whose end never comes, so the sender is still sending when it is killed.
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    Process sender = start("file-copy/Send.java", pipe.toString(), address());
    try (var endless = Files.newOutputStream(pipe)) {
      endless.write(bytes); // blocks until the sender has read most of it
      sender.destroyForcibly().waitFor();
    }
    assertThat(second.errorReader().lines()).singleElement().asString().startsWith("not received");
    assertThat(second.waitFor()).isEqualTo(1);
    assertThat(incomplete).doesNotExist();
    assertThat(directory.resolve("incomplete.part")).doesNotExist();
  }

  /** How long an exchange waits for a slow trader, in milliseconds: longer than a busy machine. */
  private static final String PATIENCE = "300000";

  @Test
  void everyTraderGetsEveryUpdateOfTheOrderBookAndPrintsItsLatencies() throws Exception {
    Process exchange = startServer("order-book/Exchange.java", address(), "2", PATIENCE);
    Process one = start("order-book/Trader.java", address());
    Process other = start("order-book/Trader.java", address());
    List<String> report = outputOf(one);
    assertThat(report.get(1)).startsWith("the book has the checksum ");
    assertThat(report.get(2)).isEqualTo("100000 updates; latency in µs:");
    assertThat(report.subList(3, report.size()))
        .hasSize(5)
        .allSatisfy(line -> assertThat(line).matches(" *[0-9.]+ % +[0-9]+\\.[0-9]{2}"));
    assertThat(outputOf(other).get(1)).isEqualTo(report.get(1));
    assertThat(outputOf(exchange)).containsExactly("sent 100000 updates to 2 traders");
  }

  @Test
  void anExchangeContinuesWithoutATraderThatIsKilled() throws Exception {
    Process exchange = startServer("order-book/Exchange.java", address(), "2", PATIENCE);
    Process killed = start("order-book/Trader.java", address());
    assertThat(killed.inputReader().readLine()).startsWith("connected to ");
    killed.destroyForcibly().waitFor(); // before the exchange sends, as the other has not connected
    assertThat(outputOf(start("order-book/Trader.java", address())))
        .contains("100000 updates; latency in µs:");
    assertThat(exchange.inputReader().readLine()).startsWith("a trader is disconnected: ");
    assertThat(outputOf(exchange)).containsExactly("sent 100000 updates to 1 traders");
  }

  @Test
  void aThousandVirtualThreadsShareFourSenders() throws Exception {
    startServer("virtual-threads/Server.java", address());
    assertThat(outputOf(start("virtual-threads/Client.java", address())))
        .last()
        .isEqualTo("1000 threads have got 10000 replies; the total is 385000");
  }

  @Test
  void aClientConnectsToTheNextServerWhenItsServerIsKilled() throws Exception {
    Process first = startServer("reconnect/Server.java", address());
    Process client = start("reconnect/Client.java", address());
    awaitLine(client, "reply 3 of process " + first.pid());
    first.destroyForcibly().waitFor();
    awaitLine(client, "the server was lost: ");
    awaitLine(client, "not connected: ");
    Process second = startServer("reconnect/Server.java", address());
    awaitLine(client, "connected to ");
    assertThat(client.inputReader().readLine()).endsWith(" of process " + second.pid());

    client.destroy();
    assertThat(client.waitFor()).isEqualTo(TERMINATED);
    assertThat(second.inputReader().readLine()).startsWith("a client was lost: ");
  }

  @Test
  void theCountersOfAConnectionAreScrapedUntilItEnds() throws Exception {
    Process server = startServer("metrics/Server.java", address(), "0");
    String line = server.inputReader().readLine();
    assertThat(line).startsWith("metrics at http://");
    URI metrics = URI.create(line.substring("metrics at ".length()));
    assertThat(scrape(metrics)).isEmpty();

    Process client = start("metrics/Client.java", address());
    awaitLine(client, "message 3");
    double first = scrape(metrics).orElseThrow();
    assertThat(first).isGreaterThanOrEqualTo(3);
    awaitLine(client, "message " + ((int) first + 5));
    assertThat(scrape(metrics).orElseThrow()).isGreaterThanOrEqualTo(first + 5);

    client.destroyForcibly().waitFor();
    while (scrape(metrics).isPresent()) {
      Thread.onSpinWait();
    }
    assertThat(server.inputReader().readLine()).startsWith("a client was lost: ");
  }

  /** Returns the messages that a server has received from its client; empty if it has none. */
  private static OptionalDouble scrape(URI metrics) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(metrics).build();
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(request, HttpResponse.BodyHandlers.ofString())
          .body()
          .lines()
          .filter(line -> line.startsWith("ferrule_received_messages_total{"))
          .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
          .findFirst();
    }
  }

  private static void awaitLine(Process process, String start) throws IOException {
    String line = process.inputReader().readLine();
    while (line != null && !line.startsWith(start)) {
      line = process.inputReader().readLine();
    }
    assertThat(line).startsWith(start);
  }
}
