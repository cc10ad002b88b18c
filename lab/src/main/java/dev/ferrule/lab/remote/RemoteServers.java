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
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
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

  /** The other host ends the connection after a minute without a message. */
  private static final Duration KEEPALIVE_INTERVAL = Duration.ofSeconds(15);

  private static final int MAX_PROCESSORS = 1 << 16;

  private static final Gson GSON = new Gson();
  private static final String ANOTHER_PROGRAM = "another program listens there";

  private final String address;
  private final ControlChannel channel;
  private final JsonObject machine;
  private final int processors;
  private final AtomicLong ids = new AtomicLong();
  private final Map<Long, CompletableFuture<JsonObject>> waiting = new ConcurrentHashMap<>();
  private final Map<Long, Consumer<String>> outputs = new ConcurrentHashMap<>();
  private final AtomicReference<@Nullable IOException> lost = new AtomicReference<>();
  private final CountDownLatch closed = new CountDownLatch(1);

  /** The first message of the other host, and its response to the token. */
  record Greeting(
      @Nullable String evaluation,
      @Nullable String challenge,
      @Nullable JsonObject machine,
      int processors,
      @Nullable String refused,
      boolean later) {}

  /** An answer to a request. */
  record Answer(@Nullable String uri, @Nullable String failed, @Nullable Integer exitCode) {}

  /** A line of a server's output, or an answer to the request with this id. */
  record Event(@Nullable Long server, @Nullable String line, @Nullable Long id) {}

  private RemoteServers(
      String address, ControlChannel channel, JsonObject machine, int processors) {
    this.address = address;
    this.channel = channel;
    this.machine = machine;
    this.processors = processors;
  }

  /** Connects to the other host; waits up to {@code patience} until it listens and is not busy. */
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
              "waiting up to %s s for 'ferrule serve --for-evaluation' at %s"
                      .formatted(patience.toSeconds(), name)
                  + (e instanceof BusyException ? ": " + e.getMessage() : ""));
          said = true;
        }
        pause();
      } catch (IOException e) {
        throw unreachable(name, e);
      }
    }
  }

  /** The other host is busy, and may serve this one later. */
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
    try {
      socket.connect(address, (int) CONNECT_TIMEOUT.toMillis());
      RemoteServers servers = greet(new ControlChannel(socket, ANSWER_TIMEOUT), token, name);
      Thread.ofPlatform().daemon().name("ferrule-evaluation").start(servers::receive);
      Thread.ofPlatform().daemon().name("ferrule-evaluation-alive").start(servers::sendKeepalives);
      return servers;
    } catch (IOException | RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  /** Returns the servers of the other host, once it has admitted this one. */
  private static RemoteServers greet(ControlChannel channel, Token token, String name)
      throws IOException {
    Greeting greeting = admitting(channel.receive(), name);
    String challenge = greeting.challenge();
    String version = greeting.evaluation();
    if (challenge == null || version == null) {
      throw new IOException(ANOTHER_PROGRAM);
    }
    if (!version.equals(String.valueOf(EvaluationHost.VERSION))) {
      throw new ToolException(
          ExitCode.NO_CONNECTION,
          ("%s has version %s of the evaluation's protocol, this command %s; use the same release"
                  + " of ferrule on both hosts")
              .formatted(name, version, EvaluationHost.VERSION));
    }
    JsonObject answer = new JsonObject();
    answer.addProperty("answer", token.answer(challenge));
    channel.send(answer);
    Greeting welcome = admitting(channel.receive(), name);
    JsonObject machine = welcome.machine();
    int processors = welcome.processors();
    if (machine == null || processors < 1 || processors > MAX_PROCESSORS) {
      throw new IOException(ANOTHER_PROGRAM);
    }
    return new RemoteServers(name, channel, machine, processors);
  }

  private static Greeting admitting(JsonObject message, String name) throws IOException {
    Greeting greeting = parsed(message, Greeting.class);
    if (greeting.refused() != null && greeting.later()) {
      throw new BusyException(greeting.refused());
    }
    if (greeting.refused() != null) {
      throw new ToolException(ExitCode.NO_CONNECTION, name + " refuses: " + greeting.refused());
    }
    return greeting;
  }

  /**
   * Returns the fields of a message; throws an {@link IOException} if their types are not those
   * that an evaluation host sends.
   */
  static <T> T parsed(JsonObject message, Class<T> type) throws IOException {
    try {
      return GSON.fromJson(message, type);
    } catch (JsonParseException e) {
      throw new IOException(ANOTHER_PROGRAM, e);
    }
  }

  /** {@return the number of processors of the other host that servers there may use} */
  public int processors() {
    return processors;
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
    try {
      return new Server(id, uri(provider, ask(id, request)));
    } catch (RuntimeException e) {
      outputs.remove(id);
      throw e;
    }
  }

  private URI uri(ProviderInfo provider, JsonObject message) {
    try {
      Answer answer = parsed(message, Answer.class);
      if (answer.failed() != null) {
        int code = Objects.requireNonNullElse(answer.exitCode(), ExitCode.FAILED);
        throw new ToolException(code, address + ": " + answer.failed());
      }
      if (answer.uri() == null) {
        throw new IOException(ANOTHER_PROGRAM);
      }
      return checked(provider, ConfiguredAddress.parse(answer.uri()));
    } catch (IOException e) {
      throw unreachable(address, e);
    }
  }

  private URI checked(ProviderInfo provider, URI uri) {
    if (!provider.scheme().equals(uri.getScheme())) {
      throw new ToolException(
          ExitCode.FAILED, address + " has started a server of another transport: " + uri);
    }
    if (!isHostAndPort(uri)) { // a query would override the options of this host's clients
      throw new ToolException(
          ExitCode.FAILED,
          ("%s has started a server at %s, which is more than a host and a port; use the same"
                  + " release of ferrule on both hosts")
              .formatted(address, uri));
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
            ("the connection to the evaluation's server %s is lost: %s; the same command continues"
                    + " the evaluation when that server runs again")
                .formatted(address, cause.getMessage()));
  }

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
          ExitCode.FAILED, address + " did not answer within " + ANSWER_TIMEOUT.toSeconds() + " s");
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

  private void receive() {
    IOException failure;
    try {
      while (true) {
        handle(channel.receive());
      }
    } catch (IOException e) {
      failure = e;
    } catch (RuntimeException e) {
      failure = new IOException("a message cannot be handled: " + e.getMessage(), e);
    }
    lost.compareAndSet(null, failure);
    waiting.values().forEach(answer -> answer.completeExceptionally(failure));
    channel.close();
  }

  private void handle(JsonObject message) throws IOException {
    Event event = parsed(message, Event.class);
    if (event.line() != null && event.server() != null) {
      Consumer<String> output = outputs.get(event.server());
      if (output != null) {
        output.accept(event.line());
      }
    } else if (event.id() != null) {
      CompletableFuture<JsonObject> answer = waiting.get(event.id());
      if (answer != null) {
        answer.complete(message);
      }
    }
  }

  private void sendKeepalives() {
    try {
      while (!closed.await(KEEPALIVE_INTERVAL.toMillis(), TimeUnit.MILLISECONDS)) {
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
