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
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Servers on another host, on which {@code ferrule serve --for-evaluation} runs. */
public final class RemoteServers implements Servers, AutoCloseable {

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

  private static final Duration BETWEEN_ATTEMPTS = Duration.ofMillis(500);

  /** A JVM takes half a minute to start where processors are emulated and busy. */
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(150);

  /** The other host's patience is a minute. */
  private static final Duration BETWEEN_SIGNS_OF_LIFE = Duration.ofSeconds(15);

  private static final int MAX_PROCESSORS = 1 << 16;

  private static final String ANOTHER_PROGRAM = "the program there is another one";

  private final String address;
  private final ControlChannel channel;
  private final JsonObject machine;
  private final int processors;
  private final AtomicLong ids = new AtomicLong();
  private final Map<Long, CompletableFuture<JsonObject>> waiting = new ConcurrentHashMap<>();
  private final Map<Long, Consumer<String>> outputs = new ConcurrentHashMap<>();
  private final AtomicReference<@Nullable IOException> lost = new AtomicReference<>();
  private final CountDownLatch closed = new CountDownLatch(1);

  private RemoteServers(String address, ControlChannel channel, JsonObject welcome)
      throws IOException {
    this.address = address;
    this.channel = channel;
    this.machine = welcome.getAsJsonObject("machine");
    this.processors = processors(text(welcome, "processors"));
  }

  /** Connects to the other host, for which it waits as long as {@code patience}. */
  public static RemoteServers connect(
      InetSocketAddress address, Token token, Duration patience, Consumer<String> problems) {
    String name = address.getHostString() + ":" + address.getPort();
    long deadline = System.nanoTime() + patience.toNanos();
    boolean said = false;
    while (true) {
      try {
        return tryToConnect(address, token, name);
      } catch (ConnectException | BusyException e) {
        if (System.nanoTime() - deadline >= 0) {
          throw unreachable(name, e);
        }
        if (!said) {
          problems.accept(
              "waiting "
                  + patience.toSeconds()
                  + " s for 'ferrule serve --for-evaluation' at "
                  + name
                  + (e instanceof BusyException ? ": " + e.getMessage() : ""));
          said = true;
        }
        pause();
      } catch (IOException e) {
        throw unreachable(name, e);
      }
    }
  }

  /** The other host may serve this one later. */
  private static final class BusyException extends IOException {
    private static final long serialVersionUID = 1L;

    BusyException(String reason) {
      super(reason);
    }
  }

  private static void pause() {
    try {
      Thread.sleep(BETWEEN_ATTEMPTS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException(ExitCode.FAILED, "interrupted", e);
    }
  }

  private static ToolException unreachable(String name, IOException e) {
    return new ToolException(
        ExitCode.NO_CONNECTION,
        "cannot reach 'ferrule serve --for-evaluation' at " + name + ": " + e.getMessage(),
        e);
  }

  private static RemoteServers tryToConnect(InetSocketAddress address, Token token, String name)
      throws IOException {
    Socket socket = new Socket();
    boolean done = false;
    try {
      socket.connect(address, (int) CONNECT_TIMEOUT.toMillis());
      ControlChannel channel = new ControlChannel(socket, ANSWER_TIMEOUT);
      RemoteServers servers = new RemoteServers(name, channel, greet(channel, token, name));
      Thread.ofPlatform().daemon().name("ferrule-evaluation").start(servers::receive);
      Thread.ofPlatform().daemon().name("ferrule-evaluation-alive").start(servers::showLife);
      done = true;
      return servers;
    } finally {
      if (!done) {
        closeQuietly(socket);
      }
    }
  }

  private static int processors(@Nullable String count) throws IOException {
    try {
      int value = Integer.parseInt(String.valueOf(count));
      if (value >= 1 && value <= MAX_PROCESSORS) {
        return value;
      }
    } catch (NumberFormatException e) {
      // as a wrong number
    }
    throw new IOException(ANOTHER_PROGRAM);
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // the reason is reported instead
    }
  }

  /** Returns what the other host says of itself, once it has admitted this one. */
  private static JsonObject greet(ControlChannel channel, Token token, String name)
      throws IOException {
    JsonObject greeting = channel.receive();
    checkAdmitted(greeting, name);
    String challenge = text(greeting, "challenge");
    String version = text(greeting, "evaluation");
    if (challenge == null || version == null) {
      throw new IOException(ANOTHER_PROGRAM);
    }
    if (!version.equals(String.valueOf(EvaluationHost.VERSION))) {
      throw new ToolException(
          ExitCode.NO_CONNECTION,
          name
              + " has version "
              + version
              + " of the evaluation's protocol, this command "
              + EvaluationHost.VERSION
              + "; use the same release of ferrule on both hosts");
    }
    JsonObject answer = new JsonObject();
    answer.addProperty("answer", token.answer(challenge));
    channel.send(answer);
    JsonObject welcome = channel.receive();
    if (!(welcome.get("machine") instanceof JsonObject)) {
      checkAdmitted(welcome, name);
      throw new IOException("an answer without the facts of the host");
    }
    return welcome;
  }

  private static void checkAdmitted(JsonObject answer, String name) throws IOException {
    String refused = text(answer, "refused");
    if (refused == null) {
      return;
    }
    if (Boolean.parseBoolean(text(answer, "later"))) {
      throw new BusyException(refused);
    }
    throw new ToolException(ExitCode.NO_CONNECTION, name + " refuses: " + refused);
  }

  /** {@return the number of processors of the other host that servers there may use} */
  public int processors() {
    return processors;
  }

  /**
   * Returns the text of a field, or null if the message does not have it. No evaluation host sends
   * an object, an array or null.
   */
  private static @Nullable String text(JsonObject message, String name) throws IOException {
    JsonElement value = message.get(name);
    if (value == null) {
      return null;
    }
    if (!value.isJsonPrimitive()) {
      throw new IOException(ANOTHER_PROGRAM);
    }
    return value.getAsString();
  }

  @Override
  public Optional<JsonObject> machine() {
    return Optional.of(machine);
  }

  @Override
  public RunningServer start(
      ProviderInfo provider, ServerSettings settings, Consumer<String> problems) {
    long id = ids.incrementAndGet();
    JsonObject options = new JsonObject();
    settings.options().forEach(options::addProperty);
    JsonObject request = new JsonObject();
    request.addProperty("id", id);
    request.addProperty("start", provider.scheme());
    request.add("options", options);
    request.addProperty("waiting", settings.waiting());
    request.addProperty("pinned", settings.pinned());
    outputs.put(id, problems);
    boolean started = false;
    try {
      URI uri = uri(provider, ask(id, request));
      started = true;
      return new Server(id, uri);
    } finally {
      if (!started) {
        outputs.remove(id);
      }
    }
  }

  private URI uri(ProviderInfo provider, JsonObject answer) {
    try {
      String reason = text(answer, "failed");
      if (reason != null) {
        throw new ToolException(exitCode(answer), address + ": " + reason);
      }
      String uri = text(answer, "uri");
      if (uri == null) {
        throw new IOException(ANOTHER_PROGRAM);
      }
      return checked(provider, ConfiguredAddress.parse(uri));
    } catch (IOException e) {
      throw unreachable(address, e);
    }
  }

  private static int exitCode(JsonObject answer) throws IOException {
    String code = text(answer, "exitCode");
    try {
      return code == null ? ExitCode.FAILED : Integer.parseInt(code);
    } catch (NumberFormatException e) {
      throw new IOException(ANOTHER_PROGRAM, e);
    }
  }

  private URI checked(ProviderInfo provider, URI uri) {
    if (!provider.scheme().equals(uri.getScheme())) {
      throw new ToolException(
          ExitCode.FAILED, address + " has started a server at " + uri + ", another transport");
    }
    if (!isHostAndPort(uri)) { // a query would override the options of this host's clients
      throw new ToolException(
          ExitCode.FAILED,
          address
              + " has started a server at "
              + uri
              + ", which is more than a host and a port; use the same release of ferrule on both"
              + " hosts");
    }
    return uri;
  }

  private static boolean isHostAndPort(URI uri) {
    String authority = uri.getRawAuthority();
    return authority != null
        && authority.indexOf('@') < 0 // user info
        && uri.getRawQuery() == null
        && uri.getRawFragment() == null;
  }

  @Override
  public Optional<String> lost() {
    return Optional.ofNullable(lost.get())
        .map(cause ->
            "the connection to the evaluation's server "
                + address
                + " is lost: "
                + cause.getMessage()
                + "; the same command continues when that runs again");
  }

  /** Sends a request and waits for its answer. */
  private JsonObject ask(long id, JsonObject request) {
    CompletableFuture<JsonObject> answer = new CompletableFuture<>();
    waiting.put(id, answer);
    try {
      IOException failure = lost.get(); // after this request is known to the receiving thread
      if (failure != null) {
        throw failure;
      }
      send(request);
      return answer.get(ANSWER_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new ToolException(
          ExitCode.FAILED, address + " has not answered in " + ANSWER_TIMEOUT.toSeconds() + " s");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException(ExitCode.FAILED, "interrupted", e);
    } catch (IOException | ExecutionException e) {
      throw new ToolException(
          ExitCode.CONNECTION_LOST, lost().orElse(String.valueOf(e.getMessage())), e);
    } finally {
      waiting.remove(id);
    }
  }

  private void send(JsonObject message) throws IOException {
    try {
      channel.send(message);
    } catch (IOException e) {
      lost.compareAndSet(null, e);
      throw e;
    }
  }

  /** Receives until the connection ends. */
  private void receive() {
    IOException failure;
    try {
      while (true) {
        handle(channel.receive());
      }
    } catch (IOException e) {
      failure = e;
    } catch (RuntimeException e) {
      failure = new IOException("a malformed message: " + e.getMessage(), e);
    }
    lost.compareAndSet(null, failure);
    waiting.values().forEach(answer -> answer.completeExceptionally(failure));
    channel.close();
  }

  private void handle(JsonObject message) {
    if (message.get("line") instanceof JsonElement line) {
      Consumer<String> output = outputs.get(message.get("server").getAsLong());
      if (output != null) {
        output.accept(line.getAsString());
      }
    } else if (message.get("id") instanceof JsonElement id) {
      CompletableFuture<JsonObject> answer = waiting.get(id.getAsLong());
      if (answer != null) {
        answer.complete(message);
      }
    }
  }

  private void showLife() {
    try {
      while (!closed.await(BETWEEN_SIGNS_OF_LIFE.toMillis(), TimeUnit.MILLISECONDS)) {
        send(EvaluationSession.alive());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      // the receiving thread reports it
    }
  }

  /** Ends the connection, and with it the servers. */
  @Override
  public void close() {
    closed.countDown();
    channel.close();
  }

  private final class Server implements RunningServer {
    private final long id;
    private final URI uri;

    Server(long id, URI uri) {
      this.id = id;
      this.uri = uri;
    }

    @Override
    public URI uri() {
      return uri;
    }

    /** Waits until the server has ended, so that its last lines are known. */
    @Override
    public void close() {
      try {
        long request = ids.incrementAndGet();
        JsonObject message = new JsonObject();
        message.addProperty("id", request);
        message.addProperty("stop", id);
        ask(request, message);
      } catch (ToolException e) {
        // the server ends with the connection
      } finally {
        outputs.remove(id);
      }
    }
  }
}
