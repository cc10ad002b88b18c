// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.sm.SmProvider;
import dev.ferrule.spi.ConnectionSample;
import dev.ferrule.spi.EndpointInfo;
import dev.ferrule.spi.EndpointRegistry;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The counters that a tool requests from the processes of endpoints. */
@SuppressWarnings("try") // listeners that only need to exist
class ConnectionSampleTest extends ProcessTest {

  private final EndpointRegistry registry = new SmProvider().endpointRegistry().orElseThrow();

  private URI uri(String options) {
    return URI.create(address() + options);
  }

  private Map<URI, List<ConnectionSample>> sample() throws Exception {
    return registry.sample(uri(""));
  }

  /** Returns all connections, at a time when a live endpoint has answered the request. */
  private Map<URI, List<ConnectionSample>> sampleWith(URI endpoint) throws Exception {
    Map<URI, List<ConnectionSample>> samples = sample();
    while (!samples.containsKey(endpoint)) { // its process is busy with something else
      samples = sample();
    }
    return samples;
  }

  /** Returns the only connection of an endpoint. */
  private ConnectionSample sample(URI endpoint) throws Exception {
    List<ConnectionSample> connections = sampleWith(endpoint).get(endpoint);
    assertThat(connections).hasSize(1);
    return connections.getFirst();
  }

  private URI otherEndpoint(URI endpoint) throws Exception {
    return registry.list(uri("")).stream()
        .map(EndpointInfo::address)
        .filter(address -> !address.equals(endpoint))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void bothSidesOfAConnectionReportWhatTheyHaveCounted() throws Exception {
    try (Listener listener = Ferrule.listen(uri("?ring=4KiB&buffer=0"));
        OtherProcess other = OtherProcess.start("send", listener.uri().toString(), "100");
        Connection connection = listener.accept()) {
      assertThat(other.line()).isEqualTo("sent");
      URI client = otherEndpoint(listener.uri());
      ConnectionSample sender = sample(client);
      assertThat(sender.counters().messagesSent()).isEqualTo(100);
      assertThat(sender.counters().bytesSent()).isEqualTo(400);
      // 16 bytes each in a ring of 4096
      assertThat(sender.sendFill()).isBetween(0.390, 0.392);

      for (int i = 0; i < 100; i++) {
        connection.receiver().receive().close();
      }
      ConnectionSample receiver = sample(listener.uri());
      assertThat(receiver.counters().messagesReceived()).isEqualTo(100);
      assertThat(receiver.counters().bytesReceived()).isEqualTo(400);
      assertThat(receiver.counters().messagesSent()).isZero();
      assertThat(receiver.sendFill()).isZero();
      assertThat(connection.uri().getFragment()).isEqualTo("" + receiver.number());
      assertThat(receiver.peer()).endsWith("#" + sender.number());
      assertThat(client.toString() + "#" + sender.number()).endsWith("/" + receiver.peer());
      assertThat(sender.peer()).endsWith("#" + receiver.number());
      assertThat(sample(client).nanos()).isGreaterThan(sender.nanos());
    }
    assertThat(files()).anyMatch(file -> file.endsWith("counters")); // of the killed process
    assertThat(registry.clean(uri(""))).hasSize(1);
    assertThat(files()).isEmpty();
  }

  @Test
  void aRequestWakesNoThreadThatWaitsForAMessage() throws Exception {
    try (Listener listener = Ferrule.listen(uri("?wait=block"));
        OtherProcess other = OtherProcess.start("hear", listener.uri() + "?wait=block");
        Connection connection = listener.accept()) {
      URI client = otherEndpoint(listener.uri());
      long sleeps = sample(client).counters().wakeupsReceived();
      while (sleeps == 0) { // not asleep yet
        sleeps = sample(client).counters().wakeupsReceived();
      }
      for (int i = 0; i < 20; i++) {
        assertThat(sample(client).counters().wakeupsReceived()).isLessThanOrEqualTo(sleeps + 1);
      }
      connection.sender().send(MemorySegment.ofArray(new byte[1]));
      assertThat(other.exitCode()).isZero();
    }
  }

  @Test
  void withoutARequestAnEndpointWritesNothing() throws Exception {
    try (Listener listener = Ferrule.listen(uri(""));
        OtherProcess other = OtherProcess.start("send", listener.uri().toString(), "1");
        Connection connection = listener.accept()) {
      other.line();
      try (ReceiveRegion message = connection.receiver().receive()) {
        assertThat(message.length()).isEqualTo(4);
      }
      registry.list(uri(""));
      assertThat(files()).noneMatch(file -> file.toString().contains("counters"));
    }
  }

  @Test
  void stoppedAndKilledProcessesAreSkipped() throws Exception {
    try (Listener listener = Ferrule.listen(uri(""));
        OtherProcess other = OtherProcess.start("connect", listener.uri().toString());
        Connection connection = listener.accept()) {
      other.line();
      URI client = otherEndpoint(listener.uri());
      sample(client);
      other.stop();
      assertThat(sampleWith(listener.uri())).containsOnlyKeys(listener.uri());
      other.resume();
      sample(client);
      other.kill();
      assertThat(sampleWith(listener.uri())).containsOnlyKeys(listener.uri());
      assertThat(registry.clean(uri(""))).extracting(EndpointInfo::address).containsExactly(client);
    }
    assertThat(files()).isEmpty();
  }
}
