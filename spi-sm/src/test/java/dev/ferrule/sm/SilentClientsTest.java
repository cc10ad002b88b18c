// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ProtocolException;
import dev.ferrule.sm.endpoint.EndpointFiles;
import dev.ferrule.sm.os.DatagramSocket;
import dev.ferrule.sm.os.OwnDirectory;
import dev.ferrule.sm.os.OwnerLock;
import dev.ferrule.sm.os.SealedFile;
import dev.ferrule.sm.ring.RingLayout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients that stop at some step of the handshake: each delays no other client, takes up no more
 * than its share, and is told what is wrong with it if it can be told.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SilentClientsTest {

  /** Far longer than a test may take, so that no silent client is given up for its silence. */
  private static final String PATIENT = "?connectTimeout=10m&maxMessage=100&slots=16";

  private static final int MAX_OFFERED = 16;

  @TempDir Path directory = Path.of("");

  private final List<FakeClient> fakes = new ArrayList<>();

  @AfterEach
  void closeFakes() {
    fakes.forEach(FakeClient::close);
  }

  private Listener listen(String query) {
    return Ferrule.listen(URI.create("sm://" + directory.resolve("app") + query));
  }

  private static Path path(Listener listener) {
    return Path.of(listener.uri().getPath());
  }

  private FakeClient fake(Listener listener) throws IOException {
    FakeClient fake = new FakeClient(path(listener), 700 + fakes.size());
    fakes.add(fake);
    return fake;
  }

  private static CompletableFuture<Connection> connecting(Listener listener) {
    URI uri = URI.create(listener.uri() + "?connectTimeout=30s&maxMessage=100&slots=16");
    return CompletableFuture.supplyAsync(
        () -> Ferrule.connect(uri), task -> Thread.ofPlatform().daemon().start(task));
  }

  private static void assertAccepts(Listener listener, int clients) {
    List<CompletableFuture<Connection>> connecting = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      connecting.add(connecting(listener));
    }
    for (int i = 0; i < clients; i++) {
      listener.accept(Duration.ofSeconds(20)).close();
    }
    connecting.forEach(each -> each.join().close());
  }

  private static long offered(Listener listener) {
    try (Stream<Path> connections = Files.list(path(listener).resolve(EndpointFiles.CONNECTIONS))) {
      return connections.count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void clientsThatNeverConfirmDelayNoOthers() throws IOException {
    try (Listener listener = listen(PATIENT)) {
      for (int i = 0; i < 3; i++) {
        fake(listener).withFifo().connect(1);
      }
      assertAccepts(listener, 3);
    }
  }

  @Test
  void aClientThatFillsTheBacklogAndConfirmsNothingDelaysNoOthers() throws IOException {
    try (Listener listener = listen(PATIENT + "&backlog=40")) {
      FakeClient fake = fake(listener).withFifo();
      for (int i = 1; i <= 100; i++) {
        fake.connect(i);
      }
      assertAccepts(listener, 3);
      assertThat(offered(listener)).isLessThanOrEqualTo(MAX_OFFERED);
    }
  }

  @Test
  void moreSilentClientsThanMayBeUnconfirmedDelayNoOthersAndTakeUpNoMoreMemory()
      throws IOException {
    try (Listener listener = listen(PATIENT)) {
      for (int i = 0; i < 2 * MAX_OFFERED; i++) {
        fake(listener).withFifo().connect(1);
      }
      assertAccepts(listener, 3);
      assertThat(offered(listener)).isLessThanOrEqualTo(MAX_OFFERED);
    }
  }

  @Test
  void aClientThatNeverConfirmsIsGivenUpAlthoughNoThreadAccepts() throws IOException {
    try (Listener listener = listen("?connectTimeout=300ms")) {
      FakeClient fake = fake(listener).withFifo();
      fake.connect(1);
      assertThatThrownBy(() -> listener.accept(Duration.ofMillis(50)))
          .isInstanceOf(OperationTimeoutException.class);
      assertThat(fake.answer().type()).isEqualTo(FakeClient.ACCEPT);
      while (offered(listener) > 0) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void aClientThatConfirmsWhenNoThreadAcceptsIsForTheNextCall() throws IOException {
    try (Listener listener = listen(PATIENT)) {
      FakeClient fake = fake(listener).withFifo();
      fake.connect(5);
      while (offered(listener) == 0) { // the endpoint's thread has not taken the request yet
        assertThatThrownBy(() -> listener.accept(Duration.ZERO))
            .isInstanceOf(OperationTimeoutException.class);
      }
      FakeClient.Answer accept = fake.answer();
      fake.send(FakeClient.ACK, 5, accept.serverId());
      listener.accept().close();
    }
  }

  @Test
  void aListenerThatClosesGivesUpClientsThatHaveNotConfirmed() throws IOException {
    Listener listener = listen(PATIENT);
    fake(listener).withFifo().connect(1);
    assertThatThrownBy(() -> listener.accept(Duration.ofMillis(50)))
        .isInstanceOf(OperationTimeoutException.class);
    assertThat(offered(listener)).isEqualTo(1);
    Path endpoint = path(listener);
    listener.close();
    assertThat(endpoint).doesNotExist();
  }

  @Test
  void aClientWhoseMemoryIsRefusedIsToldWhy() throws IOException {
    try (Listener listener = listen("")) {
      FakeClient fake = fake(listener);
      fake.makeRing(1); // and nothing beside
      fake.makeMemory(2);
      Files.createFile(path(listener).resolve("../../700/1/fifo").normalize()); // no FIFO
      for (int id = 1; id <= 2; id++) {
        fake.send(FakeClient.CONNECT, id, 0);
        assertThatThrownBy(listener.nextRequest()::accept)
            .as("client " + id)
            .isInstanceOf(ProtocolException.class);
        assertRefused(fake, id);
      }
      assertAccepts(listener, 1);
    }
  }

  @Test
  void aClientWithoutARingIsToldWhy() throws IOException {
    try (Listener listener = listen("")) {
      FakeClient fake = fake(listener);
      fake.makeNothing(2);
      for (int id = 1; id <= 2; id++) { // the first one passes no memory at all
        fake.send(FakeClient.CONNECT, id, 0);
        assertRefused(fake, id);
      }
      assertThat(listener.pollRequest()).isNull();
    }
  }

  private static void assertRefused(FakeClient fake, int id) {
    FakeClient.Answer answer = fake.answer();
    assertThat(answer.type()).as("answer to client " + id).isEqualTo(FakeClient.REFUSE);
    assertThat(answer.clientId()).isEqualTo(id);
    assertThat(answer.text()).contains("cannot use the client's memory");
  }

  @Test
  void aClientThatWasGivenUpBeforeItCouldConfirmTriesAgainWithOtherMemory() throws IOException {
    Path endpoint = directory.resolve("app/5/5");
    Files.createDirectories(endpoint.getParent());
    assertThat(OwnDirectory.create(endpoint)).isTrue();
    OwnerLock lock = OwnerLock.tryAcquire(endpoint.resolve(EndpointFiles.LOCK));
    assertThat(lock).isNotNull();
    try (lock;
        Arena arena = Arena.ofShared();
        DatagramSocket socket = new DatagramSocket(endpoint.resolve(EndpointFiles.SOCKET))) {
      URI uri = URI.create("sm://" + endpoint);
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(uri));
      DatagramSocket.Datagram connect = receive(socket, FakeClient.CONNECT);
      Path client = Path.of(String.valueOf(connect.from())).getParent();
      ring(connect, arena).set(ValueLayout.JAVA_INT, RingLayout.SENDER_CLOSED, 1);
      byte[] accept = connect.bytes().clone();
      accept[0] = 0x20 | FakeClient.ACCEPT;
      socket.send(accept, connect.file(), client.resolve(EndpointFiles.SOCKET));
      receive(socket, FakeClient.CANCEL);
      DatagramSocket.Datagram again = receive(socket, FakeClient.CONNECT);
      client = Path.of(String.valueOf(again.from())).getParent();
      assertThat(ring(again, arena).get(ValueLayout.JAVA_INT, RingLayout.SENDER_CLOSED)).isZero();
      byte[] refuse = again.bytes().clone();
      refuse[0] = 0x20 | FakeClient.REFUSE;
      socket.send(refuse, null, client.resolve(EndpointFiles.SOCKET));
      assertThatThrownBy(connecting::join)
          .cause()
          .isInstanceOf(dev.ferrule.ConnectionRefusedException.class);
    }
  }

  private static MemorySegment ring(DatagramSocket.Datagram connect, Arena arena) {
    SealedFile file = Objects.requireNonNull(connect.file());
    return file.map(RingLayout.DESCRIPTOR_SIZE, arena).view();
  }

  private static DatagramSocket.Datagram receive(DatagramSocket socket, int type) {
    DatagramSocket.Datagram datagram = socket.receive();
    while (datagram == null || (datagram.bytes()[0] & 0xf) != type) {
      Thread.onSpinWait();
      datagram = socket.receive();
    }
    return datagram;
  }
}
