// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.remote;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import dev.ferrule.ProviderInfo;
import dev.ferrule.lab.evaluate.ServerSettings;
import dev.ferrule.lab.evaluate.Servers;
import dev.ferrule.tools.bench.RunningServer;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.EOFException;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The servers of one evaluation, which end with it. */
final class EvaluationSession implements AutoCloseable {

  /** As many as an evaluation keeps. */
  private static final int MAX_SERVERS = 3;

  private static final Gson GSON = new Gson();

  private final ControlChannel channel;
  private final Servers servers;
  private final Consumer<String> problems;
  private final Map<Long, RunningServer> running = new LinkedHashMap<>();

  EvaluationSession(ControlChannel channel, Servers servers, Consumer<String> problems) {
    this.channel = channel;
    this.servers = servers;
    this.problems = problems;
  }

  /** Serves the evaluation until it ends the connection. */
  void run() throws IOException {
    while (true) {
      JsonObject message;
      try {
        message = channel.receive();
      } catch (EOFException e) {
        return;
      }
      channel.send(message.has("alive") ? alive() : answer(message));
    }
  }

  static JsonObject alive() {
    JsonObject message = new JsonObject();
    message.addProperty("alive", true);
    return message;
  }

  /** A request to start a server, or to stop one. */
  private record Request(
      @Nullable Long id,
      @Nullable Long stop,
      @Nullable String start,
      @Nullable Map<String, String> options,
      @Nullable String waiting,
      @Nullable Boolean pinned) {}

  private JsonObject answer(JsonObject message) {
    JsonObject answer = new JsonObject();
    try {
      Request request = request(message);
      long id = required(request.id());
      answer.addProperty("id", id);
      if (request.stop() != null) {
        stop(request.stop());
      } else {
        answer.addProperty("uri", start(id, request));
      }
    } catch (RuntimeException e) {
      String reason = ControlChannel.shortened(String.valueOf(e.getMessage()));
      problems.accept("a request was refused: " + reason);
      answer.addProperty("failed", reason);
      answer.addProperty("exitCode", e instanceof ToolException ? ExitCode.of(e) : ExitCode.USAGE);
    }
    return answer;
  }

  private static Request request(JsonObject message) {
    try {
      // from the text, as a number that is too large would be truncated
      return GSON.fromJson(message.toString(), Request.class);
    } catch (JsonParseException e) { // a part is of another type
      throw malformed(e);
    }
  }

  private static <T> T required(@Nullable T part) {
    if (part == null) {
      throw malformed(null);
    }
    return part;
  }

  private static IllegalArgumentException malformed(@Nullable JsonParseException cause) {
    return new IllegalArgumentException("the request is malformed", cause);
  }

  private String start(long id, Request request) {
    if (running.size() >= MAX_SERVERS) {
      throw new IllegalArgumentException("at most " + MAX_SERVERS + " servers run at a time");
    }
    if (running.containsKey(id)) {
      throw new IllegalArgumentException("server " + id + " has been started already");
    }
    ProviderInfo provider = ConfiguredAddress.requiredProvider(required(request.start()));
    Map<String, String> options = required(request.options());
    options.values().forEach(EvaluationSession::required); // JSON has null
    ServerSettings settings =
        new ServerSettings(options, required(request.waiting()), required(request.pinned()));
    AllowedSettings.check(provider, settings);
    RunningServer server = servers.start(provider, settings, line -> report(id, line));
    running.put(id, server);
    return server.uri().toString();
  }

  private void report(long id, String line) {
    JsonObject message = new JsonObject();
    message.addProperty("server", id);
    message.addProperty("line", ControlChannel.shortened(line));
    try {
      channel.send(message);
    } catch (IOException e) {
      problems.accept("server: " + line); // the evaluation has ended
    }
  }

  private void stop(long id) {
    RunningServer server = running.remove(id);
    if (server == null) {
      throw new IllegalArgumentException("there is no server " + id);
    }
    server.close();
  }

  @Override
  public void close() {
    List.copyOf(running.keySet()).forEach(this::stop);
  }
}
