// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import dev.ferrule.ProviderInfo;
import dev.ferrule.lab.evaluate.Catalogue;
import dev.ferrule.lab.evaluate.Experiment;
import dev.ferrule.lab.evaluate.ServerSettings;
import dev.ferrule.lab.evaluate.Servers;
import dev.ferrule.lab.evaluate.Task;
import dev.ferrule.lab.model.Processors;
import dev.ferrule.tools.bench.RunningServer;
import dev.ferrule.tools.support.Affinity;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.ToolException;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a host does for evaluations on other hosts, and what it refuses. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EvaluationHostTest {

  private static final Token TOKEN = new Token("a shared secret");
  private static final ProviderInfo PROVIDER = ConfiguredAddress.requiredProvider("sendrecv");
  private static final ServerSettings SETTINGS =
      new ServerSettings(Map.of("srq", "on", "maxMessage", "8KiB"), "adaptive", false);

  private static final EvaluationHost.Patience PATIENCE =
      new EvaluationHost.Patience(Duration.ofMinutes(2), Duration.ZERO, Duration.ofMinutes(2));

  private final List<String> problems = new CopyOnWriteArrayList<>();
  private final Map<URI, Consumer<String>> running = new ConcurrentHashMap<>();
  private final List<ServerSettings> started = new CopyOnWriteArrayList<>();
  private final AtomicInteger ports = new AtomicInteger(1000);
  private final List<AutoCloseable> opened = new ArrayList<>();
  private final Map<EvaluationHost, Thread> threads = new ConcurrentHashMap<>();

  /** Starts servers that exist only in this test. */
  private final Servers servers =
      (provider, settings, lines) -> {
        URI uri = URI.create(provider.scheme() + "://192.0.2.1:" + ports.incrementAndGet());
        started.add(settings);
        running.put(uri, lines);
        return new RunningServer() {
          @Override
          public URI uri() {
            return uri;
          }

          @Override
          public void close() {
            lines.accept("ferrule: its last line");
            running.remove(uri);
          }
        };
      };

  private EvaluationHost host(EvaluationHost.Patience patience) {
    return host(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), patience);
  }

  private EvaluationHost host(InetSocketAddress address) {
    return host(address, PATIENCE);
  }

  private EvaluationHost host(InetSocketAddress address, EvaluationHost.Patience patience) {
    JsonObject machine = new JsonObject();
    machine.addProperty("processor", "of the other host");
    EvaluationHost host =
        new EvaluationHost(address, TOKEN, () -> machine, servers, problems::add, patience);
    opened.add(host);
    threads.put(host, Thread.ofPlatform().daemon().start(host::run));
    return host;
  }

  /** Closes a host; until its thread has ended, the kernel may still accept clients. */
  private void end(EvaluationHost host) throws InterruptedException {
    host.close();
    Objects.requireNonNull(threads.get(host)).join();
  }

  private static InetSocketAddress address(EvaluationHost host) {
    String[] parts = host.address().split(":");
    return new InetSocketAddress(parts[0], Integer.parseInt(parts[1]));
  }

  private static RemoteServers connect(InetSocketAddress address, Token token) {
    return RemoteServers.connect(address, token, Duration.ZERO, problem -> {});
  }

  private RemoteServers connect(EvaluationHost host) {
    RemoteServers result = connect(address(host), TOKEN);
    opened.add(result);
    return result;
  }

  /** Connects without the client's code; the greeting is received. */
  private ControlChannel raw(EvaluationHost host) throws IOException {
    Socket socket = new Socket();
    socket.connect(address(host));
    ControlChannel channel = new ControlChannel(socket, Duration.ofMinutes(2));
    opened.add(channel);
    return channel;
  }

  private ControlChannel admitted(EvaluationHost host) throws IOException {
    ControlChannel channel = raw(host);
    JsonObject answer = new JsonObject();
    answer.addProperty("answer", TOKEN.answer(channel.receive().get("challenge").getAsString()));
    channel.send(answer);
    assertThat(channel.receive().has("machine")).isTrue();
    return channel;
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }

  @Test
  void serversAreStartedAsRequestedAndReportUntilTheyAreStopped() {
    RemoteServers remote = connect(host(PATIENCE));
    assertThat(remote.processors()).isEqualTo(Affinity.allowed().size());
    assertThat(remote.machine().orElseThrow().get("processor").getAsString())
        .isEqualTo("of the other host");
    List<String> lines = new CopyOnWriteArrayList<>();
    RunningServer server = remote.start(PROVIDER, SETTINGS, lines::add);
    assertThat(running).containsOnlyKeys(server.uri());
    assertThat(started).containsExactly(SETTINGS);
    running.get(server.uri()).accept("ferrule: a client has gone");
    server.close();
    assertThat(lines).containsExactly("ferrule: a client has gone", "ferrule: its last line");
    assertThat(running).isEmpty();
  }

  @Test
  void aHostThatListensLaterIsWaitedFor() throws Exception {
    EvaluationHost gone = host(PATIENCE);
    InetSocketAddress address = address(gone);
    end(gone);
    List<String> said = new CopyOnWriteArrayList<>();
    EvaluationHost[] later = new EvaluationHost[1];
    try (RemoteServers remote =
        RemoteServers.connect(
            address,
            TOKEN,
            Duration.ofSeconds(250),
            line -> {
              said.add(line);
              later[0] = host(address);
            })) {
      assertThat(said).hasSize(1).allMatch(line -> line.startsWith("waiting up to 250 s for"));
      assertThat(remote.start(PROVIDER, SETTINGS, line -> {}).uri()).isNotNull();
    }
    assertThat(later[0].address()).isEqualTo(gone.address());
  }

  @Test
  void serversEndWithTheEvaluation() {
    EvaluationHost host = host(PATIENCE);
    RemoteServers remote = connect(host);
    remote.start(PROVIDER, SETTINGS, line -> {});
    remote.start(PROVIDER, SETTINGS, line -> {});
    assertThat(running).hasSize(2);
    remote.close();
    await(running::isEmpty);
  }

  @Test
  void oneEvaluationIsServedAtATime() {
    EvaluationHost host = host(PATIENCE);
    RemoteServers first = connect(host);
    assertThatThrownBy(() -> connect(host))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("busy with another evaluation");
    first.start(PROVIDER, SETTINGS, line -> {}).close();
    first.close();
    await(() -> problems.stream().anyMatch(line -> line.endsWith("has ended")));
    connectPatiently(host).start(PROVIDER, SETTINGS, line -> {});
  }

  /** The host reports the end of an evaluation just before it is ready for the next. */
  private RemoteServers connectPatiently(EvaluationHost host) {
    while (true) {
      try {
        return connect(host);
      } catch (ToolException e) {
        assertThat(e).hasMessageContaining("busy");
      }
    }
  }

  @Test
  void aWrongTokenIsRefused() {
    EvaluationHost host = host(PATIENCE);
    assertThatThrownBy(() -> connect(address(host), new Token("another secret")))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("refuses: the token is not the one that the server was started with");
    assertThat(problems).anyMatch(line -> line.endsWith("is refused: wrong token"));
  }

  @Test
  void theAnswerToAChallengeIsOfNoUseForAnother() throws IOException {
    EvaluationHost host = host(PATIENCE);
    JsonObject answer = new JsonObject();
    answer.addProperty("answer", TOKEN.answer(raw(host).receive().get("challenge").getAsString()));
    ControlChannel second = raw(host);
    second.receive();
    second.send(answer);
    assertThat(second.receive().has("refused")).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"answer\": 7}", "{\"answer\": []}", "{\"start\": \"sendrecv\"}"})
  void nothingIsDoneForAClientThatDoesNotAnswer(String line) throws IOException {
    ControlChannel channel = raw(host(PATIENCE));
    channel.receive();
    channel.send(new Gson().fromJson(line, JsonObject.class));
    assertThat(channel.receive().has("refused")).isTrue();
    assertThat(started).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET / HTTP/1.1\n", "\n", "[]\n", "\"text\"\n", "{\n", "x"})
  void whatIsNoMessageEndsTheConnection(String text) throws IOException {
    EvaluationHost host = host(PATIENCE);
    assertThatIsEnded(host, text.getBytes(StandardCharsets.UTF_8));
    connect(host).start(PROVIDER, SETTINGS, line -> {});
  }

  @Test
  void aLineWithoutAnEndIsNotCollected() throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(address(host(PATIENCE)));
      socket.getOutputStream().write("[".repeat(1000).getBytes(StandardCharsets.UTF_8));
      await(() -> problems.stream().anyMatch(line -> line.contains("more than 256 bytes")));
    }
  }

  /** Each byte arrives in time, but the answer does not. */
  @Test
  void aClientThatSendsByteByByteIsDisconnected() throws Exception {
    EvaluationHost host =
        host(
            new EvaluationHost.Patience(
                Duration.ofSeconds(1), Duration.ZERO, Duration.ofMinutes(2)));
    try (Socket socket = new Socket()) {
      socket.connect(address(host));
      while (problems.stream().noneMatch(line -> line.contains("no whole message in 1000 ms"))) {
        socket.getOutputStream().write(' ');
        Thread.sleep(10);
      }
    } catch (SocketException e) {
      await(() -> problems.stream().anyMatch(line -> line.contains("no whole message")));
    }
  }

  private static void assertThatIsEnded(EvaluationHost host, byte[] bytes) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(address(host));
      socket.getOutputStream().write(bytes);
      socket.shutdownOutput();
      socket.getInputStream().transferTo(OutputStream.nullOutputStream());
    } catch (SocketException e) {
      assertThat(e).hasMessageContaining("reset"); // with the rest of the line unread
    }
  }

  @Test
  void silentClientsDelayNoOthersAndAreEnded() throws IOException {
    EvaluationHost host =
        host(
            new EvaluationHost.Patience(
                Duration.ofSeconds(6), Duration.ZERO, Duration.ofMinutes(2)));
    List<ControlChannel> silent = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      ControlChannel channel = raw(host);
      channel.receive();
      silent.add(channel);
    }
    connect(host).start(PROVIDER, SETTINGS, line -> {});
    for (ControlChannel channel : silent) {
      assertThatThrownBy(channel::receive).isInstanceOf(EOFException.class);
    }
  }

  @Test
  void aClientLearnsThatTooManyOthersHaveNotGivenTheToken() throws IOException {
    EvaluationHost host = host(PATIENCE);
    for (int i = 0; i < EvaluationHost.MAX_UNKNOWN; i++) {
      raw(host).receive();
    }
    assertThatThrownBy(() -> connect(host))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("too many clients have not given the token yet");
    assertThat(problems).singleElement().asString().contains("too many clients");
  }

  @Test
  void anEvaluationWhoseHostIsGoneEndsAfterAWhile() throws IOException {
    EvaluationHost host =
        host(
            new EvaluationHost.Patience(
                Duration.ofMinutes(2), Duration.ZERO, Duration.ofSeconds(6)));
    ControlChannel channel = admitted(host);
    channel.send(start("sendrecv", Map.of()));
    assertThat(channel.receive().has("uri")).isTrue();
    await(running::isEmpty); // as it sends no keepalive
  }

  /** It sends keepalives, but the host cannot send answers. */
  @Test
  void anEvaluationThatReadsNothingIsEnded() throws IOException {
    EvaluationHost host =
        host(
            new EvaluationHost.Patience(
                Duration.ofMinutes(2), Duration.ZERO, Duration.ofSeconds(6)));
    ControlChannel channel = admitted(host);
    channel.send(start("sendrecv", Map.of()));
    assertThat(channel.receive().has("uri")).isTrue();
    JsonObject request = start("x".repeat(4000), Map.of());
    request.addProperty("id", 2); // a new one, so that the answer names the provider: it is as long
    assertThatThrownBy(
            () -> {
              while (true) {
                channel.send(request);
              }
            })
        .isInstanceOf(IOException.class);
    await(() -> problems.stream().anyMatch(line -> line.contains("was sent in 6000 ms")));
    await(running::isEmpty);
    connectPatiently(host).start(PROVIDER, SETTINGS, line -> {});
  }

  private static JsonObject start(String scheme, Map<String, String> options) {
    JsonObject values = new JsonObject();
    options.forEach(values::addProperty);
    JsonObject message = new JsonObject();
    message.addProperty("id", 1);
    message.addProperty("start", scheme);
    message.add("options", values);
    message.addProperty("waiting", "block");
    message.addProperty("pinned", false);
    return message;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sm        | maxMessage     | 4KiB   | sm does not connect hosts",
        "none      | maxMessage     | 4KiB   | no provider 'none'",
        "sendrecv  | colour         | red    | sendrecv has no option colour",
        "sendrecv  | backlog        | 10     | option backlog=10 is not allowed",
        "sendrecv  | sendBuffer     | 1GiB   | option sendBuffer=1GiB is not allowed",
        "sendrecv  | maxMessage     | 2MiB   | the maximum is 1048576",
        "sendrecv  | receives       | 100000 | receives",
        "sendrecv  | receives       | 4096   | 4100 receive buffers of 65536 bytes exceed the limit",
        "sendrecv  | receives       | 1021   | 1025 receive buffers of 65536 bytes exceed the limit",
        "sendrecv  | connectTimeout | 1h     | option connectTimeout=1h is not allowed",
        "sendrecv  | srq            | maybe  | srq",
        "magicring | ring           | 1GiB   | the maximum is 67108864",
        "magicring | hugePages      | on     | option hugePages=on is not allowed",
      })
  void aServerThatWouldExceedTheLimitsIsNotStarted(
      String scheme, String option, String value, String reason) throws IOException {
    ControlChannel channel = admitted(host(PATIENCE));
    channel.send(start(scheme, Map.of(option, value)));
    JsonObject answer = channel.receive();
    assertThat(answer.get("failed").getAsString()).contains(reason);
    assertThat(started).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"id\": 1}",
        "{\"id\": 99999999999999999999999, \"stop\": 1}",
        "{\"id\": \"x\"}",
        "{\"id\": 1, \"stop\": 7}",
        "{\"id\": 1, \"start\": \"sendrecv\"}",
        "{\"id\": 1, \"start\": \"sendrecv\", \"options\": []}",
        "{\"id\": 1, \"start\": \"sendrecv\", \"options\": {\"srq\": {}}, \"waiting\": \"block\"}",
        "{\"id\": 1, \"start\": \"sendrecv\", \"options\": {\"srq\": null}, \"waiting\": \"block\","
            + " \"pinned\": true}",
        "{\"id\": 1, \"start\": \"sendrecv\", \"options\": {}, \"waiting\": \"x\", \"pinned\": true}",
      })
  void aMalformedRequestFailsAndTheNextOneIsServed(String line) throws IOException {
    ControlChannel channel = admitted(host(PATIENCE));
    channel.send(new Gson().fromJson(line, JsonObject.class));
    assertThat(channel.receive().get("failed").getAsString())
        .isIn("the request is malformed", "there is no server 7", "unknown wait strategy");
    channel.send(start("sendrecv", Map.of()));
    assertThat(channel.receive().has("uri")).isTrue();
  }

  /** Every experiment can be measured between two hosts. */
  @ParameterizedTest
  @ValueSource(strings = {"sendrecv", "magicring"})
  void allThatAnEvaluationAsksForIsAllowed(String scheme) {
    ProviderInfo provider = ConfiguredAddress.requiredProvider(scheme);
    for (boolean quick : new boolean[] {true, false}) {
      for (Experiment experiment :
          new Catalogue(provider, quick, Processors.ofTwoHosts(32, 32)).experiments()) {
        for (Task task : experiment.obstacle().isPresent() ? List.<Task>of() : experiment.tasks()) {
          JsonObject point = task.description();
          Map<String, String> options = new HashMap<>();
          point
              .getAsJsonObject("server")
              .asMap()
              .forEach((name, value) -> options.put(name, value.getAsString()));
          ServerSettings settings =
              new ServerSettings(options, point.get("wait").getAsString(), false);
          AllowedSettings.check(provider, settings);
          int clients =
              AllowedSettings.bounds(provider, settings).stream()
                  .filter(argument -> argument.startsWith("--max-clients="))
                  .mapToInt(argument -> Integer.parseInt(argument.split("=")[1]))
                  .findFirst()
                  .orElseThrow();
          assertThat(clients).isGreaterThan(point.get("connections").getAsInt());
        }
      }
    }
  }

  @Test
  void moreServersThanAnEvaluationUsesAreNotStarted() {
    RemoteServers remote = connect(host(PATIENCE));
    for (int i = 0; i < 3; i++) {
      remote.start(PROVIDER, SETTINGS, line -> {});
    }
    assertThatThrownBy(() -> remote.start(PROVIDER, SETTINGS, line -> {}))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("at most 3 servers");
  }

  @Test
  void aHostThatIsGoneIsReportedWithWhatToDo() throws Exception {
    EvaluationHost host = host(PATIENCE);
    try (ServerSocket relay = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.ofPlatform().daemon().start(() -> greetAndLeave(relay));
      RemoteServers remote =
          connect(
              new InetSocketAddress(InetAddress.getLoopbackAddress(), relay.getLocalPort()), TOKEN);
      opened.add(remote);
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(() -> remote.start(PROVIDER, SETTINGS, line -> {}))
            .isInstanceOf(ToolException.class)
            .hasMessageContaining("is lost")
            .hasMessageContaining("the same command continues");
      }
    }
    host.close();
    assertThatThrownBy(() -> connect(host))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("cannot reach 'ferrule serve --for-evaluation' at 127.0.0.1:");
  }

  /** Acts as a host that dies when a server is requested. */
  private static void greetAndLeave(ServerSocket relay) {
    try (ControlChannel channel = new ControlChannel(relay.accept(), Duration.ofMinutes(2))) {
      JsonObject greeting = new JsonObject();
      greeting.addProperty("evaluation", EvaluationHost.VERSION);
      greeting.addProperty("challenge", "7");
      channel.send(greeting);
      channel.receive();
      JsonObject welcome = new JsonObject();
      welcome.add("machine", new JsonObject());
      welcome.addProperty("processors", 2);
      channel.send(welcome);
      channel.receive();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void anotherVersionIsReported() throws Exception {
    try (ServerSocket relay = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.ofPlatform()
          .daemon()
          .start(() -> {
            try (ControlChannel channel =
                new ControlChannel(relay.accept(), Duration.ofMinutes(2))) {
              JsonObject greeting = new JsonObject();
              greeting.addProperty("evaluation", 99);
              greeting.addProperty("challenge", "7");
              channel.send(greeting);
            } catch (IOException e) {
              throw new AssertionError(e);
            }
          });
      InetSocketAddress address =
          new InetSocketAddress(InetAddress.getLoopbackAddress(), relay.getLocalPort());
      assertThatThrownBy(() -> connect(address, TOKEN))
          .isInstanceOf(ToolException.class)
          .hasMessageContaining("version 99")
          .hasMessageContaining("same release");
    }
  }
}
