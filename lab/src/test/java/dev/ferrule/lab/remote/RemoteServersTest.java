// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.remote;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import dev.ferrule.ProviderInfo;
import dev.ferrule.lab.evaluate.ServerSettings;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How an evaluation handles messages of a program that is not an evaluation host. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RemoteServersTest {

  private static final ProviderInfo PROVIDER = ConfiguredAddress.requiredProvider("sendrecv");
  private static final ServerSettings SETTINGS = new ServerSettings(Map.of(), "block", false);
  private static final String GREETING =
      "{\"evaluation\": " + EvaluationHost.VERSION + ", \"challenge\": \"7\"}";
  private static final String WELCOME = "{\"machine\": {}, \"processors\": 2}";

  private ServerSocket listening;

  @BeforeEach
  void listen() throws IOException {
    listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  }

  @AfterEach
  void close() throws IOException {
    listening.close();
  }

  /**
   * Connects to a host that sends these lines, the first immediately and each further one after a
   * message.
   */
  private RemoteServers connect(String... lines) {
    Thread.ofPlatform().daemon().start(() -> say(List.of(lines)));
    return RemoteServers.connect(
        new InetSocketAddress(listening.getInetAddress(), listening.getLocalPort()),
        new Token("a shared secret"),
        Duration.ZERO,
        problem -> {});
  }

  private void say(List<String> lines) {
    try (ControlChannel channel = new ControlChannel(listening.accept(), Duration.ofMinutes(2))) {
      for (String line : lines) {
        channel.send(new Gson().fromJson(line, JsonObject.class));
        channel.receive();
      }
    } catch (IOException e) {
      // the client has ended the connection
    }
  }

  private void assertThatTheProgramIsAnotherOne(String... lines) {
    assertThatThrownBy(
            () -> {
              try (RemoteServers remote = connect(lines)) {
                remote.start(PROVIDER, SETTINGS, line -> {});
              }
            })
        .isInstanceOf(ToolException.class)
        .hasMessageContaining(
            "cannot reach 'ferrule serve --for-evaluation' at localhost:"
                + listening.getLocalPort()
                + ": another program listens there");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"challenge\": {}}",
        "{\"challenge\": {}, \"evaluation\": 1}",
        "{\"challenge\": \"7\", \"evaluation\": []}",
      })
  void aMalformedGreetingIsReported(String greeting) {
    assertThatTheProgramIsAnotherOne(greeting);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"refused\": {}}",
        "{\"refused\": [\"a\", \"b\"], \"later\": false}",
        "{\"refused\": \"busy\", \"later\": {}}",
      })
  void aMalformedRefusalIsReported(String refusal) {
    assertThatTheProgramIsAnotherOne(GREETING, refusal);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"id\": 1}",
        "{\"id\": 1, \"uri\": {}}",
        "{\"id\": 1, \"failed\": {}}",
        "{\"id\": 1, \"failed\": \"x\", \"exitCode\": {}}",
        "{\"id\": 1, \"failed\": \"x\", \"exitCode\": \"y\"}",
      })
  void aMalformedAnswerIsReported(String answer) {
    assertThatTheProgramIsAnotherOne(GREETING, WELCOME, answer);
  }

  /** The receiving thread reports it, to the request that waits for an answer. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"line\": {}, \"server\": 1}",
        "{\"line\": \"x\", \"server\": \"y\"}",
        "{\"id\": []}",
        "{\"id\": \"x\"}"
      })
  void aMalformedMessageEndsTheConnection(String message) {
    assertThatThrownBy(
            () -> {
              try (RemoteServers remote = connect(GREETING, WELCOME, message)) {
                remote.start(PROVIDER, SETTINGS, line -> {});
              }
            })
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("is lost: another program listens there;");
  }

  /** These would change the options of the clients on this host. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "sendrecv://192.0.2.1:1000?receives=16384&maxMessage=1GiB",
        "sendrecv://192.0.2.1:1000#7",
        "sendrecv://user@192.0.2.1:1000",
        "sendrecv:192.0.2.1:1000?receives=16384",
      })
  void anAddressWithMoreThanHostAndPortIsRefused(String uri) {
    try (RemoteServers remote =
        connect(GREETING, WELCOME, "{\"id\": 1, \"uri\": \"" + uri + "\"}")) {
      assertThatThrownBy(() -> remote.start(PROVIDER, SETTINGS, line -> {}))
          .isInstanceOf(ToolException.class)
          .hasMessageContaining("localhost:" + listening.getLocalPort())
          .hasMessageContaining(uri + ", which is more than a host and a port");
    }
  }
}
