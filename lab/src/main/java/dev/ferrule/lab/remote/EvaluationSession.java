// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.remote;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
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

/** The servers of one evaluation, which end with it. */
final class EvaluationSession implements AutoCloseable {

  /** As many as an evaluation keeps. */
  private static final int MAX_SERVERS = 3;

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
    JsonObject sign = new JsonObject();
    sign.addProperty("alive", true);
    return sign;
  }

  private JsonObject answer(JsonObject message) {
    JsonObject answer = new JsonObject();
    try {
      long id = number(message, "id");
      answer.addProperty("id", id);
      if (message.has("stop")) {
        stop(number(message, "stop"));
      } else {
        answer.addProperty("uri", start(id, message));
      }
    } catch (RuntimeException e) {
      String what =
          isMalformed(e)
              ? "the request is malformed" // a part is missing, or of another type
              : String.valueOf(e.getMessage());
      String reason = ControlChannel.shortened(what);
      problems.accept("a request was refused: " + reason);
      answer.addProperty("failed", reason);
      answer.addProperty("exitCode", e instanceof ToolException ? ExitCode.of(e) : ExitCode.USAGE);
    }
    return answer;
  }

  private static long number(JsonObject message, String name) {
    return Long.parseLong(message.get(name).getAsString());
  }

  /** Returns whether Gson threw it. */
  private static boolean isMalformed(RuntimeException e) {
    return e instanceof NullPointerException
        || e instanceof UnsupportedOperationException
        || e instanceof ClassCastException
        || e instanceof NumberFormatException
        || e instanceof IllegalStateException;
  }

  private String start(long id, JsonObject message) {
    if (running.size() >= MAX_SERVERS) {
      throw new IllegalArgumentException("at most " + MAX_SERVERS + " servers run at a time");
    }
    if (running.containsKey(id)) {
      throw new IllegalArgumentException("there is a server " + id);
    }
    ProviderInfo provider = ConfiguredAddress.requiredProvider(message.get("start").getAsString());
    Map<String, String> options = new LinkedHashMap<>();
    for (Map.Entry<String, JsonElement> each : message.getAsJsonObject("options").entrySet()) {
      options.put(each.getKey(), each.getValue().getAsString());
    }
    ServerSettings settings =
        new ServerSettings(
            options, message.get("waiting").getAsString(), message.get("pinned").getAsBoolean());
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
