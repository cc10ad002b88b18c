// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.contract.SystemResources;
import dev.ferrule.posix.DatagramSocket;
import dev.ferrule.posix.Fifo;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.posix.SharedMapping;
import dev.ferrule.sm.endpoint.EndpointFiles;
import dev.ferrule.sm.os.OwnDirectory;
import dev.ferrule.sm.os.OwnerLock;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.ring.RingTestHook;
import dev.ferrule.sm.ring.RingTestPoint;
import dev.ferrule.sm.rma.RmaLayout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients that stop at some step of the handshake: each delays no other client, uses no more than
 * its share of resources, and receives the reason of a refusal if possible.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SilentClientsTest {

  /** Far longer than a test may take, so that no silent client times out. */
  private static final String PATIENT = "?connectTimeout=10m&maxMessage=100&ring=4KiB";

  private static final int MAX_OFFERED = 16;

  @TempDir Path directory = Path.of("");

  private final List<FakeClient> fakes = new ArrayList<>();

  @AfterEach
  void closeFakes() {
    fakes.forEach(FakeClient::close);
  }

  @Test
  void aListenerThatClosesRefusesRequestsThatTheProgramHasNotAnswered() throws Exception {
    Listener listener = listen(PATIENT);
    FakeClient client = new FakeClient(Path.of(listener.uri().getPath()), 7).withFifo();
    fakes.add(client);
    int before = memoryFiles().size();
    client.connect(1);
    ConnectionRequest request = listener.nextRequest();
    assertThat(memoryFiles()).hasSize(before + 2); // the client's own, and the listener's
    listener.close();
    assertThat(client.answer().type()).isEqualTo(FakeClient.REFUSE);
    assertThat(memoryFiles()).hasSize(before + 1);
    assertThatThrownBy(request::accept)
        .isInstanceOf(ConnectionClosedException.class)
        .hasMessageContaining("the listener was closed");
  }

  private static List<String> memoryFiles() {
    return SystemResources.openDescriptors().stream()
        .filter(file -> file.contains("memfd:ferrule"))
        .toList();
  }

  /** The first answer of a JVM that has just started may take longer. */
  @Test
  void aClientMayTakeLongerToConfirmThanAPeerMayBeSilent() throws Exception {
    try (Listener listener = listen(PATIENT + "&peerTimeout=40ms")) {
      FakeClient client = fake(listener).withFifo();
      CompletableFuture<Connection> accepting = CompletableFuture.supplyAsync(listener::accept);
      client.connect(1);
      FakeClient.Answer accept = client.answer();
      for (int i = 0; i < 4; i++) { // repeated after 20, 40, 80 and 160 ms
        assertThat(client.answer()).isEqualTo(accept);
      }
      assertThat(accept.type()).isEqualTo(FakeClient.ACCEPT);
      client.send(FakeClient.ACK, 1, accept.serverId(), null);
      accepting.get().close();
    }
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
    URI uri = URI.create(listener.uri() + "?connectTimeout=90s&maxMessage=100&ring=4KiB");
    return CompletableFuture.supplyAsync(
        () -> Ferrule.connect(uri), task -> Thread.ofPlatform().daemon().start(task));
  }

  private static void assertAccepts(Listener listener, int clients) {
    List<CompletableFuture<Connection>> connecting = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      connecting.add(connecting(listener));
    }
    for (int i = 0; i < clients; i++) {
      listener.accept(Duration.ofSeconds(90)).close();
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

  /**
   * Accepts until a number of connections are offered; the endpoint's thread must receive the
   * requests first.
   */
  private static void acceptInVain(Listener listener, int connections) {
    while (offered(listener) < connections) {
      assertThatThrownBy(() -> listener.accept(Duration.ZERO))
          .isInstanceOf(OperationTimeoutException.class);
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
    // served one after the other, these would take more than 30 s
    try (Listener listener = listen(PATIENT + "&backlog=300")) {
      FakeClient fake = fake(listener).withFifo();
      for (int i = 1; i <= 400; i++) {
        fake.connect(i);
      }
      assertAccepts(listener, 3);
      assertThat(offered(listener)).isLessThanOrEqualTo(MAX_OFFERED);
    }
  }

  @Test
  void aFullBacklogGivesAPlaceOfTheClientWithTheMostToOneThatHasNone() throws IOException {
    try (Listener listener = listen(PATIENT + "&backlog=2")) {
      FakeClient greedy = fake(listener);
      greedy.connect(1);
      greedy.connect(2);
      FakeClient other = fake(listener);
      other.connect(1);
      other.send(FakeClient.CONNECT, 2, 0, null);
      assertRefused(other, 2); // so the listener has processed the earlier requests

      assertThat(listener.nextRequest().peer().getPath()).isEqualTo("" + greedy.endpoint());
      assertThat(listener.nextRequest().peer().getPath()).isEqualTo("" + other.endpoint());
      assertThat(listener.tryNextRequest()).isNull();
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
  void aClientThatNeverConfirmsIsAbandonedAlthoughNoThreadAccepts() throws IOException {
    try (Listener listener = listen("?connectTimeout=2s")) {
      FakeClient fake = fake(listener).withFifo();
      fake.connect(1);
      // not until the connection is seen: on a slow machine it may be withdrawn before
      FakeClient.Answer answer = fake.pollAnswer();
      while (answer == null) {
        assertThatThrownBy(() -> listener.accept(Duration.ZERO))
            .isInstanceOf(OperationTimeoutException.class);
        answer = fake.pollAnswer();
      }
      assertThat(answer.type()).isEqualTo(FakeClient.ACCEPT);
      while (offered(listener) > 0) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void aClientThatConfirmsWhenNoThreadAcceptsIsReturnedByTheNextCall() throws IOException {
    try (Listener listener = listen(PATIENT)) {
      FakeClient fake = fake(listener).withFifo();
      fake.connect(5);
      acceptInVain(listener, 1);
      FakeClient.Answer accept = fake.answer();
      fake.send(FakeClient.ACK, 5, accept.serverId(), null);
      listener.accept().close();
    }
  }

  @Test
  void aListenerThatClosesAbandonsClientsThatHaveNotConfirmed() throws IOException {
    Listener listener = listen(PATIENT);
    fake(listener).withFifo().connect(1);
    acceptInVain(listener, 1);
    Path endpoint = path(listener);
    listener.close();
    assertThat(endpoint).doesNotExist();
  }

  @Test
  void resourcesOfClientsThatDoNotConfirmAreGivenToOneThatDoes() throws Exception {
    Path tmpfs = Files.createDirectory(directory.resolve("app"));
    assumeTrue(
        run("mount", "-t", "tmpfs", "-o", "nr_inodes=300", "tmpfs", tmpfs.toString()),
        "mounting a tmpfs needs root");
    try {
      try (Listener listener = listen(PATIENT)) {
        for (int i = 0; i < 4; i++) {
          fake(listener).withFifo().connect(1);
        }
        acceptInVain(listener, 4);
        CompletableFuture<Connection> connecting = connecting(listener);
        Path client = path(listener).resolveSibling("2").resolve(EndpointFiles.CONNECTIONS);
        while (!hasMemory(client)) {
          Thread.onSpinWait();
        }
        fillFileSystem(tmpfs);
        listener.accept(Duration.ofSeconds(90)).close();
        connecting.join().close();
      }
    } finally {
      closeFakes();
      fakes.clear();
      assertThat(run("umount", "-l", tmpfs.toString())).isTrue();
    }
  }

  /** Returns whether a connection of an endpoint has its memory. */
  private static boolean hasMemory(Path connections) {
    String[] numbers = connections.toFile().list();
    return numbers != null
        && Arrays.stream(numbers)
            .anyMatch(
                number -> Files.exists(connections.resolve(number).resolve(EndpointFiles.MEMORY)));
  }

  private static void fillFileSystem(Path tmpfs) {
    assertThatThrownBy(
            () -> {
              for (int i = 0; ; i++) {
                Files.createFile(tmpfs.resolve("file" + i));
              }
            })
        .hasMessageContaining("No space left");
  }

  private static boolean run(String... command) throws Exception {
    return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor() == 0;
  }

  @Test
  void aClientThatIsRefusedAtItsAcceptanceReceivesTheReason() throws IOException {
    try (Listener listener = listen("");
        SealedFile whole = FakeClient.memory();
        SealedFile incomplete = FakeClient.incompleteMemory()) {
      FakeClient noFifo = fake(listener);
      Files.createFile(noFifo.endpoint().resolve(EndpointFiles.FIFO));
      noFifo.send(FakeClient.CONNECT, 1, 0, whole);
      assertThatThrownBy(listener.nextRequest()::accept).isInstanceOf(ProtocolException.class);
      assertRefused(noFifo, 1);

      FakeClient fake = fake(listener).withFifo();
      fake.send(FakeClient.CONNECT, 2, 0, incomplete);
      assertThatThrownBy(listener.nextRequest()::accept).isInstanceOf(ProtocolException.class);
      assertRefused(fake, 2);
      assertAccepts(listener, 1);
    }
  }

  @Test
  void aClientWhoseFifoIsMissingOrHasNoReaderIsRefused() throws IOException {
    try (Listener listener = listen("")) {
      FakeClient missing = fake(listener);
      missing.connect(1);
      assertThatThrownBy(listener.nextRequest()::accept)
          .isInstanceOf(ConnectionClosedException.class);
      assertRefused(missing, 1);

      FakeClient socket = fake(listener);
      DatagramSocket inItsPlace = new DatagramSocket(socket.endpoint().resolve(EndpointFiles.FIFO));
      socket.connect(1);
      assertThatThrownBy(listener.nextRequest()::accept).isInstanceOf(PeerLostException.class);
      assertRefused(socket, 1);
      inItsPlace.close();
      assertAccepts(listener, 1);
    }
  }

  /** The refusal does not state that the live client has died. */
  @Test
  void aLiveClientWithoutAFifoIsRefusedAsOneThatViolatesTheProtocol() throws IOException {
    try (Listener listener = listen("")) {
      FakeClient missing = fake(listener);
      FakeClient file = fake(listener);
      Files.createFile(file.endpoint().resolve(EndpointFiles.FIFO));
      for (FakeClient client : List.of(missing, file)) {
        try (OwnerLock lock = OwnerLock.tryAcquire(client.endpoint().resolve(EndpointFiles.LOCK))) {
          assertThat(lock).isNotNull();
          client.connect(1);
          assertThatThrownBy(listener.nextRequest()::accept)
              .isInstanceOf(ProtocolException.class)
              .hasMessageContaining("its file fifo must be a FIFO that its user owns");
          assertRefused(client, 1, "its file fifo must be a FIFO that its user owns");
        }
      }
      assertAccepts(listener, 1);
    }
  }

  @Test
  void theMemoryOfARefusedClientIsNotKeptMapped() throws IOException {
    try (Listener listener = listen("");
        SealedFile memory = FakeClient.memory()) {
      FakeClient fake = fake(listener).withFifo();
      SharedMapping own = memory.map(RingLayout.DESCRIPTOR_SIZE);
      long rma = RingLayout.readDescriptor(own.view()).orElseThrow().layout().ringSize();
      own.view().set(ValueLayout.JAVA_LONG, rma + RmaLayout.DESCRIPTOR_GENERATION, 4711);
      long before = mappedMemoryFiles();
      fake.send(FakeClient.CONNECT, 1, 0, memory);
      assertThatThrownBy(listener.nextRequest()::accept).isInstanceOf(ProtocolException.class);
      assertRefused(fake, 1, "");
      assertThat(mappedMemoryFiles()).as("leak of mappings").isLessThanOrEqualTo(before);
      Reference.reachabilityFence(own);
    }
  }

  @Test
  void aClientThatHasFreedItsMemoryHasStoppedWaitingAndBrokenNoRule() throws IOException {
    try (Listener listener = listen("");
        SealedFile memory = FakeClient.incompleteMemory()) {
      FakeClient fake = fake(listener).withFifo();
      fake.send(FakeClient.CONNECT, 1, 0, memory);
      ConnectionRequest request = listener.nextRequest();
      Files.delete(fake.connection(1)); // and its CANCEL is lost
      assertThatThrownBy(request::accept)
          .isInstanceOf(ConnectionClosedException.class)
          .hasMessageContaining("the client stopped waiting");
    }
  }

  @Test
  void clientsThatHaveStoppedWaitingDoNotDelayAnAcceptPastItsDeadline() throws IOException {
    try (Listener listener = listen(PATIENT);
        SealedFile memory = FakeClient.incompleteMemory()) {
      FakeClient fake = fake(listener).withFifo();
      fake.send(FakeClient.CONNECT, 1, 0, memory);
      fake.send(FakeClient.CONNECT, 2, 0, memory);
      fake.send(FakeClient.CONNECT, 3, 0, null);
      assertRefused(fake, 3); // so the listener has processed the earlier requests
      Files.delete(fake.connection(1));
      Files.delete(fake.connection(2));

      assertThatThrownBy(() -> listener.accept(Duration.ZERO))
          .isInstanceOf(OperationTimeoutException.class);

      assertThat(listener.tryNextRequest()).isNotNull();
    }
  }

  /** Lets a thread of this name create the ends of its ring when the test allows it. */
  private static void hold(String thread, CountDownLatch allowed) {
    RingTestHook.onReached(step -> {
      if (step == RingTestPoint.OPENING_CONSUMER
          && Thread.currentThread().getName().equals(thread)) {
        try {
          allowed.await();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
    });
  }

  @AfterEach
  void removeHook() {
    RingTestHook.ignore();
  }

  /** Such as a JVM that loads the classes of a connection meanwhile. */
  @Test
  void aClientThatWasTooSlowToConfirmTriesAgain() throws Exception {
    CountDownLatch allowed = new CountDownLatch(1);
    hold("slow client", allowed);
    try (Listener listener = listen("?connectTimeout=500ms")) {
      URI address = listener.uri();
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(
              () -> Ferrule.connect(address),
              task -> Thread.ofPlatform().name("slow client").daemon().start(task));
      assertThatThrownBy(listener.nextRequest()::accept)
          .isInstanceOf(OperationTimeoutException.class);
      allowed.countDown();
      try (Connection accepted = acceptInTime(listener);
          Connection client = connecting.get(90, TimeUnit.SECONDS)) {
        client.sender().send(MemorySegment.ofArray(new byte[1]));
        accepted.receiver().receive().close();
      }
    }
  }

  /** Accepts a client that may be too slow to confirm several times. */
  private static Connection acceptInTime(Listener listener) {
    while (true) {
      try {
        return listener.nextRequest().accept();
      } catch (OperationTimeoutException e) {
        continue;
      }
    }
  }

  private static long mappedMemoryFiles() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/maps")).stream()
        .filter(line -> line.contains("memfd:ferrule"))
        .count();
  }

  @Test
  void aConnectionHasNoNumber0() throws IOException {
    try (Listener listener = listen("")) {
      FakeClient fake = fake(listener).withFifo();
      fake.connect(0);
      fake.connect(1);
      listener.nextRequest().reject();
      assertThat(fake.answer().clientId()).isEqualTo(1);
    }
  }

  @Test
  void aClientWhoseMemoryIsRefusedAtOnceReceivesTheReason() throws IOException {
    try (Listener listener = listen("");
        SealedFile zeros = SealedFile.create(1 << 16, 1 << 16);
        SealedFile tooShort = SealedFile.create(100, 100);
        SealedFile messagesTooLong = FakeClient.memory()) {
      messagesTooLong
          .map(RingLayout.DESCRIPTOR_SIZE)
          .view()
          .set(ValueLayout.JAVA_INT, RingLayout.DESCRIPTOR_MAX_MESSAGE, 1 << 20);
      FakeClient fake = fake(listener).withFifo();
      fake.send(FakeClient.CONNECT, 1, 0, null);
      assertRefused(fake, 1, "the connect request passed no memory");
      fake.send(FakeClient.CONNECT, 2, 0, zeros);
      assertRefused(fake, 2, "its memory does not start with a ring of version 3");
      fake.send(FakeClient.CONNECT, 3, 0, tooShort);
      assertRefused(fake, 3, "its memory does not start with a ring of version 3");
      fake.send(FakeClient.CONNECT, 4, 0, messagesTooLong);
      assertRefused(fake, 4, "a ring of invalid sizes: messages of 1048576 bytes in");
      assertThat(listener.tryNextRequest()).isNull();
    }
  }

  @Test
  void theMemoryOfARequestForWhichTheBacklogHasNoRoomIsNotInspected() throws IOException {
    try (Listener listener = listen(PATIENT + "&backlog=1");
        SealedFile zeros = SealedFile.create(1 << 16, 1 << 16)) {
      FakeClient fake = fake(listener).withFifo();
      fake.connect(1);
      fake.send(FakeClient.CONNECT, 2, 0, zeros);
      fake.send(FakeClient.CONNECT, 3, 0, null);
      assertRefused(fake, 3); // and the one before was not

      assertThat(listener.nextRequest().peer().getPath()).isEqualTo("" + fake.endpoint());
      fake.send(FakeClient.CONNECT, 2, 0, zeros);
      assertRefused(fake, 2);
    }
  }

  private static void assertRefused(FakeClient fake, int id) {
    assertRefused(fake, id, "");
  }

  private static void assertRefused(FakeClient fake, int id, String reason) {
    FakeClient.Answer answer = fake.answer();
    assertThat(answer.type()).as("answer to client " + id).isEqualTo(FakeClient.REFUSE);
    assertThat(answer.clientId()).isEqualTo(id);
    assertThat(answer.text()).contains("the client's").contains(reason);
  }

  @Test
  void aClientAbandonedBeforeItCouldConfirmRetriesWithOtherFiles() throws IOException {
    Path endpoint = directory.resolve("app/5/5");
    Files.createDirectories(endpoint.getParent());
    assertThat(OwnDirectory.create(endpoint)).isTrue();
    OwnerLock lock = OwnerLock.tryAcquire(endpoint.resolve(EndpointFiles.LOCK));
    assertThat(lock).isNotNull();
    Fifo.Reader fifo = new Fifo.Reader(endpoint.resolve(EndpointFiles.FIFO));
    try (lock;
        fifo;
        SealedFile memory = FakeClient.memory();
        DatagramSocket socket = new DatagramSocket(endpoint.resolve(EndpointFiles.SOCKET))) {
      URI uri = URI.create("sm://" + endpoint);
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(uri));
      DatagramSocket.Datagram connect = receive(socket, FakeClient.CONNECT);
      Path client = Path.of(String.valueOf(connect.from()));
      SharedMapping first = memory(connect);
      first.view().set(ValueLayout.JAVA_INT, RingLayout.SENDER_CLOSED, 1);
      byte[] accept = connect.bytes().clone();
      accept[0] = FakeClient.VERSION | FakeClient.ACCEPT;
      socket.send(accept, memory, client);
      receive(socket, FakeClient.CANCEL);
      DatagramSocket.Datagram again = receive(socket, FakeClient.CONNECT);
      client = Path.of(String.valueOf(again.from()));
      SharedMapping second = memory(again);
      assertThat(second.view().get(ValueLayout.JAVA_INT, RingLayout.SENDER_CLOSED)).isZero();
      Reference.reachabilityFence(first);
      Reference.reachabilityFence(second);
      byte[] refuse = again.bytes().clone();
      refuse[0] = FakeClient.VERSION | FakeClient.REFUSE;
      socket.send(refuse, null, client);
      assertThatThrownBy(connecting::join)
          .cause()
          .isInstanceOf(dev.ferrule.ConnectionRefusedException.class);
    }
  }

  /** Maps the client's memory, in which the listener announces that it has closed a connection. */
  private static SharedMapping memory(DatagramSocket.Datagram connect) {
    try (SealedFile file = Objects.requireNonNull(connect.file())) {
      return file.map(RingLayout.DESCRIPTOR_SIZE);
    }
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
