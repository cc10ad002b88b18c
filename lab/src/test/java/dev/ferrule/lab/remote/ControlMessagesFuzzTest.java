// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.remote;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import dev.ferrule.lab.evaluate.Servers;
import dev.ferrule.support.Fuzzer;
import dev.ferrule.tools.bench.RunningServer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The messages between an evaluation and the host of its servers, as either may receive them. */
class ControlMessagesFuzzTest {

  private static final Gson GSON = new Gson();

  private static final List<String> REQUESTS =
      List.of(
          "{\"id\":1,\"start\":\"sendrecv\",\"options\":{\"maxMessage\":\"64KiB\"},"
              + "\"waiting\":\"spin\",\"pinned\":true}\n{\"id\":2,\"stop\":1}\n",
          "{\"alive\":true}\n{\"id\":7,\"start\":\"magicring\",\"options\":"
              + "{\"ring\":\"1MiB\",\"window\":\"64\"},\"waiting\":\"block\",\"pinned\":false}\n");

  private static final List<String> ANSWERS =
      List.of(
          "{\"evaluation\":1,\"challenge\":\"7f\"}",
          "{\"refused\":\"the server is busy\",\"later\":true}",
          "{\"machine\":{\"processor\":\"of the other host\"},\"processors\":2}",
          "{\"id\":1,\"uri\":\"sendrecv://192.0.2.1:1000\"}",
          "{\"id\":1,\"failed\":\"no memory\",\"exitCode\":5}",
          "{\"server\":1,\"line\":\"ferrule: a client has gone\"}");

  /** A connection whose peer has sent everything already. */
  private static final class Received extends Socket {

    private final InputStream input;
    private final ByteArrayOutputStream output = new ByteArrayOutputStream();

    private Received(String text) {
      input = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public InputStream getInputStream() {
      return input;
    }

    @Override
    public OutputStream getOutputStream() {
      return output;
    }

    @Override
    public void setTcpNoDelay(boolean on) {}

    @Override
    public void setSoTimeout(int millis) {}

    private List<String> sent() {
      return output.toString(StandardCharsets.UTF_8).lines().toList();
    }
  }

  private static final Servers SERVERS =
      (provider, settings, lines) ->
          new RunningServer() {
            @Override
            public URI uri() {
              return URI.create(provider.scheme() + "://192.0.2.1:1000");
            }

            @Override
            public void close() {}
          };

  private static ControlChannel channel(Socket socket) throws IOException {
    return new ControlChannel(socket, Duration.ofMinutes(2));
  }

  @Test
  void everyRequestIsAnsweredUntilALineIsNoMessage() {
    new Fuzzer("requests of an evaluation", 2_000)
        .permits(IOException.class)
        .allocates(4 << 20)
        .text(
            REQUESTS,
            text -> {
              Received socket = new Received(text);
              List<String> problems = new ArrayList<>();
              try (EvaluationSession session =
                  new EvaluationSession(channel(socket), SERVERS, problems::add)) {
                session.run();
              } finally {
                assertThat(socket.sent()).hasSizeLessThanOrEqualTo((int) text.lines().count());
                for (String line : socket.sent()) {
                  assertThat(GSON.fromJson(line, JsonObject.class)).isNotNull();
                  assertThat(line.length()).isLessThan(ControlChannel.LONGEST);
                }
                assertThat(problems).allMatch(problem -> problem.length() < 5_000);
                assertThat(problems).noneMatch(problem -> problem.endsWith("null"));
              }
              return problems.isEmpty();
            });
  }

  @Test
  void everyMessageOfAHostHasPartsOfTheRightTypesOrIsRefused() {
    new Fuzzer("messages of an evaluation's host", 5_000)
        .permits(IOException.class)
        .allocates(1 << 20)
        .text(
            ANSWERS,
            text -> {
              JsonObject message = channel(new Received(text + "\n")).receive();
              int processors =
                  RemoteServers.parsed(message, RemoteServers.Greeting.class).processors();
              RemoteServers.Answer answer =
                  RemoteServers.parsed(message, RemoteServers.Answer.class);
              RemoteServers.Event event = RemoteServers.parsed(message, RemoteServers.Event.class);
              return processors > 0
                  || answer.uri() != null
                  || answer.failed() != null
                  || event.line() != null;
            });
  }
}
