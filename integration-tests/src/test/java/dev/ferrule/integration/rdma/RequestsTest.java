// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.Ferrule;
import dev.ferrule.FerruleException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.contract.SystemResources;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The information that both sides receive when a client connects. */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RequestsTest {

  private static final String NO_HELLO = "?hello=off&credits=off&maxMessage=4KiB";
  private static final String SMALL = "?maxMessage=4KiB";
  private static final String TERABYTE = "?receives=16384&maxMessage=64MiB";

  @Test
  void aRequestHasTheClientsAddressAndAConnectionHasTheLocalOne() {
    String address = RdmaDevice.address();
    try (Listener listener = Ferrule.listen(URI.create("sendrecv://0.0.0.0:0" + SMALL))) {
      int port = listener.uri().getPort();
      Task<Connection> connecting =
          Task.start(() -> Wires.connect("sendrecv://" + address + ":" + port + SMALL, ""));
      ConnectionRequest request = listener.nextRequest(Task.PATIENCE);

      assertThat(request.peer().getScheme()).isEqualTo("sendrecv");
      assertThat(request.peer().getHost()).isEqualTo(address);
      assertThat(request.peer().getPort()).isPositive().isNotEqualTo(port);

      try (Connection server = request.accept();
          Connection client = connecting.result()) {
        assertThat(server.uri().toString()).startsWith("sendrecv://" + address + ":" + port + "#");
        assertThat(client.uri().getHost()).isEqualTo(address);
        assertThat(request.peer().getHost()).isEqualTo(address);
      }
    }
  }

  @Test
  void listeningAtAnAddressOfNoDeviceIsRefused() {
    assertThatThrownBy(() -> Wires.listen("sendrecv://127.0.0.1:0"))
        .isInstanceOf(InvalidAddressException.class)
        .hasMessageContaining("no RDMA device of this host has that address");
  }

  @Test
  void aClientOfAMissingHostReportsThatNoHostAnswered() {
    String absent = RdmaDevice.address().replaceFirst("\\d+$", "250");
    assertThatThrownBy(
            () -> Wires.connect("sendrecv://" + absent + ":1" + SMALL + "&connectTimeout=1s", ""))
        .isInstanceOf(FerruleException.class)
        .hasMessageContaining("no host has answered");
  }

  @ParameterizedTest
  @CsvSource({"sendrecv, magicring", "magicring, sendrecv"})
  void aClientOfTheOtherProtocolReportsTheListenersProtocol(String scheme, String other) {
    try (Listener listener = Wires.listen(scheme + SMALL)) {
      String address = listener.uri().toString().replaceFirst(scheme, other);

      assertThatThrownBy(() -> Wires.connect(address + SMALL, ""))
          .isInstanceOf(ConnectionRefusedException.class)
          .hasMessageContaining("the listener speaks " + scheme + ", not " + other);
    }
  }

  @Test
  void aPortWithoutAListenerIsReported() {
    assertThatThrownBy(() -> Wires.connect("sendrecv://" + RdmaDevice.address() + ":9" + SMALL, ""))
        .isInstanceOf(ConnectionRefusedException.class)
        .hasMessageContaining("no listener at that port")
        .hasMessageContaining("(reject reason 8)");
  }

  /** The kernel rejects unanswered requests, also when a process exits. */
  @Test
  void aListenerThatEndsBeforeItAnswersIsReportedAsTheCause() {
    Task<Connection> connecting;
    try (RawPeer.RawListener listener = new RawPeer.RawListener()) {
      connecting = Task.start(() -> Wires.connect(listener.address() + SMALL, ""));
      listener.ignoreClient();
    }
    assertThat(connecting.failure())
        .isInstanceOf(ConnectionRefusedException.class)
        .hasMessageContaining("before it answered");
  }

  @Test
  void aListenerWithoutEnoughMemoryReportsItToBothSides() {
    for (String modes : new String[] {"", "&srq=on"}) {
      try (Listener listener = Wires.listen(TERABYTE + modes)) {
        Task<Connection> connecting = Task.start(() -> Wires.connect(listener.uri() + SMALL, ""));

        assertThatThrownBy(() -> listener.accept(Task.PATIENCE))
            .isInstanceOf(ResourceExhaustedException.class)
            .hasMessageContaining("smaller values of receives or maxMessage");
        assertThat(connecting.failure())
            .isInstanceOf(ResourceExhaustedException.class)
            .hasMessageContaining("the listener lacks a resource: mmap");
      }
    }
  }

  @Test
  void aClientWithoutEnoughMemoryReportsIt() {
    try (Listener listener = Wires.listen(SMALL)) {
      assertThatThrownBy(() -> Wires.connect(listener.uri() + TERABYTE, ""))
          .isInstanceOf(ResourceExhaustedException.class)
          .hasMessageContaining("smaller values of receives or maxMessage");
    }
  }

  @Test
  void aClientThatNeverConfirmsDelaysNoOther() {
    try (Listener listener = Wires.listen(NO_HELLO + "&connectTimeout=60s");
        RawPeer silent = RawPeer.connectInSilence(listener.uri().getPort(), key -> new byte[0])) {
      assertThat(silent).isNotNull();
      try (Wires.Pair pair = Wires.pair(listener, NO_HELLO)) {
        Numbered.send(pair.client().sender(), 1);
        Numbered.check(pair.server().receiver().receive(Task.PATIENCE), 1);
      }
    }
  }

  @Test
  void aClientThatNeverConfirmsIsReleasedWithoutAnAcceptingThread() {
    try (Listener listener = Wires.listen(NO_HELLO + "&connectTimeout=3s");
        RawPeer silent = RawPeer.connectInSilence(listener.uri().getPort(), key -> new byte[0])) {
      assertThat(silent).isNotNull();
      int before = mappings();
      Task.await(
          "the client has received an answer, so resources were allocated for it",
          () -> {
            assertThatThrownBy(() -> listener.accept(Duration.ZERO))
                .isInstanceOf(OperationTimeoutException.class);
            return silent.hasUnreadAnswer();
          });

      Task.await("the resources are released", () -> mappings() <= before);
    }
  }

  /** Returns the number of the device's mappings in this process, a few for each queue. */
  private static int mappings() {
    return SystemResources.mappings("infiniband").size();
  }

  @Test
  void aClientBeingAcceptedAtATimeoutIsReturnedByTheNextCall() {
    try (Listener listener = Wires.listen(SMALL)) {
      Task<Connection> connecting = Task.start(() -> Wires.connect(listener.uri() + SMALL, ""));
      try (Connection server = acceptByShortCalls(listener);
          Connection client = connecting.result()) {
        Numbered.send(client.sender(), 1);
        Numbered.check(server.receiver().receive(Task.PATIENCE), 1);
      }
    }
  }

  private static Connection acceptByShortCalls(Listener listener) {
    long end = System.nanoTime() + Task.PATIENCE.toNanos();
    while (System.nanoTime() - end < 0) {
      try {
        return listener.accept(Duration.ZERO);
      } catch (OperationTimeoutException e) {
        Task.pause(Duration.ofMillis(1));
      }
    }
    throw new AssertionError("no client connected");
  }

  @Test
  void aListenerThatIsClosedDoesNotWaitForAClientToConfirm() {
    Task<Connection> accepting;
    RawPeer silent;
    try (Listener listener = Wires.listen(NO_HELLO + "&connectTimeout=60s")) {
      accepting = Task.start(listener::accept);
      silent = RawPeer.connectInSilence(listener.uri().getPort(), key -> new byte[0]);
    }
    assertThat(accepting.failure()).isInstanceOf(ConnectionClosedException.class);
    silent.close();
  }
}
