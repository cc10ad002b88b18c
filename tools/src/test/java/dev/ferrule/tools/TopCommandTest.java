// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ferrule top} and {@code ferrule ls --watch} beside a connection whose client sends. */
class TopCommandTest {

  private static final int LENGTH = 100;

  @TempDir Path folder;

  private Listener listener;
  private Connection server;
  private Connection client;
  private Thread traffic;

  @BeforeEach
  void sendMessages() {
    listener = Ferrule.listen(URI.create("sm://" + folder + "/app"));
    CompletableFuture<Connection> connecting =
        CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
    server = listener.accept();
    client = connecting.join();
    traffic = Thread.ofPlatform().daemon().start(this::run);
  }

  private void run() {
    try {
      while (true) {
        client.sender().send(MemorySegment.ofArray(new byte[LENGTH]));
        try (ReceiveRegion message = server.receiver().receive()) {
          assertThat(message.length()).isEqualTo(LENGTH);
        }
        Thread.yield();
      }
    } catch (FerruleException e) {
      return; // the test has ended
    }
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    server.close();
    listener.close();
    traffic.join();
  }

  private String path() {
    return folder.resolve("app").toString();
  }

  private static JsonObject row(List<JsonObject> rows, Connection connection) {
    return find(rows, connection).orElseThrow();
  }

  private static Optional<JsonObject> find(List<JsonObject> rows, Connection connection) {
    return rows.stream()
        .filter(row -> row.get("connection").getAsString().equals(connection.uri().getFragment()))
        .findFirst();
  }

  private static boolean isPositive(JsonObject row, String rate) {
    return row.has(rate) && row.get(rate).getAsDouble() > 0;
  }

  /** Returns whether both sides have answered twice, with messages in between. */
  private boolean showsMessages(Run run) {
    List<JsonObject> rows = run.results();
    return find(rows, client).filter(row -> isPositive(row, "sent_messages_per_s")).isPresent()
        && find(rows, server).filter(row -> isPositive(row, "received_bytes_per_s")).isPresent();
  }

  @Test
  void theJsonHasTheRatesOfBothSidesOverOneInterval() {
    Run run =
        Run.until(this::showsMessages, "top", "--once", "--json", "--interval", "200ms", path());

    assertThat(run.exitCode()).isZero();
    assertThat(run.document().get("schema").getAsString()).isEqualTo("ferrule.top/1");
    assertThat(run.document().get("interval_s").getAsDouble()).isEqualTo(0.2);
    assertThat(run.document().getAsJsonArray("endpoints"))
        .isNotEmpty()
        .allMatch(endpoint -> endpoint.getAsJsonObject().get("has_counters").getAsBoolean());
    JsonObject sent = row(run.results(), client);
    JsonObject received = row(run.results(), server);
    assertThat(sent.get("sent_messages_per_s").getAsDouble()).isPositive();
    assertThat(sent.get("received_messages_per_s").getAsDouble()).isZero();
    assertThat(received.get("received_bytes_per_s").getAsDouble()).isPositive();
    assertThat(received.get("sent_bytes_per_s").getAsDouble()).isZero();
    assertThat(sent.get("sent_messages").getAsLong())
        .isBetween(1L, client.counters().messagesSent());
    assertThat(sent.get("peer").getAsString()).endsWith("#" + server.uri().getFragment());
  }

  @Test
  void onceWritesTheTablesOnce() {
    Run run =
        Run.until(
            top -> top.out().contains("#" + client.uri().getFragment()),
            "top",
            "--once",
            "--interval",
            "100ms",
            path());

    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .containsOnlyOnce("sent/s")
        .containsPattern("\n +live +\\d+ +\\d+  " + listener.uri() + "  listener of process")
        .contains("#" + client.uri().getFragment())
        .doesNotContain("\033");
  }

  private static void awaitLines(BufferedReader output, String part, int count) throws IOException {
    int seen = 0;
    while (seen < count) {
      String line = output.readLine();
      assertThat(line).as("line %s with %s", seen + 1, part).isNotNull().doesNotContain("\033");
      seen += line.contains(part) ? 1 : 0;
    }
  }

  @Test
  void toAPipeTheTablesAreWrittenAgainUntilItsReaderExits() throws Exception {
    try (FerruleProcess top = FerruleProcess.start(folder, "top", "--interval", "100ms", path());
        FerruleProcess list = FerruleProcess.start(folder, "ls", "--watch", "100ms", path())) {
      awaitLines(top.output(), "sent/s", 3);
      top.process().getInputStream().close();
      top.mustEndWith(141);
      assertThat(top.errors()).isEmpty();

      awaitLines(list.output(), "connections", 3);
      list.process().getInputStream().close();
      list.mustEndWith(141);
      assertThat(list.errors()).isEmpty();
    }
  }

  @Test
  void onATerminalTheTablesReplaceEachOtherAndTheKeyQEndsTheCommand() throws Exception {
    for (String command : List.of("top --interval 100ms ", "ls --watch ")) {
      try (FerruleProcess shown = FerruleProcess.startOnTerminal(folder, command + path())) {
        shown.readUntil("\033[2J");
        shown.readUntil(listener.uri().toString());
        shown.readUntil("\033[H");
        shown.process().getOutputStream().write('q');
        shown.process().getOutputStream().flush();
        shown.mustEndWith(0);
      }
    }
  }

  @Test
  void ctrlCEndsTheCommand() throws Exception {
    try (FerruleProcess top = FerruleProcess.startOnTerminal(folder, "top " + path())) {
      top.readUntil(listener.uri().toString());
      top.interruptDescendants();
      top.mustEndWith(130);
    }
  }
}
