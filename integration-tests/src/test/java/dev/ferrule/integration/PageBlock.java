// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The run of the commands of a block of a page, in a folder like the checkout. */
final class PageBlock implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(120);

  private static final Pattern NUMBER =
      Pattern.compile("(?<![A-Za-z\\d.,])\\d+(?:[.,:]\\d+)*(?: [kMG](?![A-Za-z]))?|(?<= )-(?= |$)");

  private static final Set<String> STATES = Set.of("ok", "missing", "warn");

  private final Path folder;
  private final Rehearsal rehearsal;
  private final int block;
  private final List<Process> started = new ArrayList<>();

  /**
   * Prepares a run.
   *
   * @param folder a folder for the output of the commands
   * @param block the number of the block's first line, which names its endpoints
   */
  PageBlock(Path folder, Rehearsal rehearsal, int block) {
    this.folder = folder;
    this.rehearsal = rehearsal;
    this.block = block;
  }

  /** Ends the processes that still run. */
  @Override
  public void close() {
    for (Process process : started) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().onExit().join();
    }
  }

  /** Runs commands, and checks what they print and return. */
  void run(List<PageCommand> commands) throws Exception {
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
          servers.put(command, startServer(command));
          Optional<PageCommand> client = missingClient(command, commands);
          if (client.isPresent()) {
            runToEnd(client.get());
          }
        } else {
          runToEnd(command);
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

  private Process startServer(PageCommand command) throws Exception {
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
    assertShown(command);
    return process;
  }

  private void runToEnd(PageCommand command) throws Exception {
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
      if (isShown(command) || System.nanoTime() > end) {
        break;
      }
    }
    assertShown(command);
  }

  private boolean isShown(PageCommand command) throws IOException {
    try {
      assertShown(command);
      return true;
    } catch (AssertionError e) {
      return false;
    }
  }

  /** Checks that the lines that a page shows are among those of the output, in this order. */
  private void assertShown(PageCommand command) throws IOException {
    String output =
        Files.readString(output(command))
            .replaceAll(Pattern.quote(folder + "/shm") + "\\d+", "/dev/shm")
            .replace(System.getProperty("java.vendor"), "Eclipse Adoptium")
            .replace(System.getProperty("java.runtime.version"), "25.0.3+9-LTS");
    boolean isDoctor = command.text().endsWith("doctor");
    List<String> lines = output.lines().map(PageBlock::masked).toList();
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
