// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionState;
import dev.ferrule.Ferrule;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteMemory;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.Rma;
import dev.ferrule.RmaRight;
import dev.ferrule.StandardOptions;
import dev.ferrule.VersionMismatchException;
import dev.ferrule.WaitStrategy;
import dev.ferrule.contract.LoggedRecords;
import dev.ferrule.contract.SystemResources;
import dev.ferrule.posix.DatagramSocket;
import dev.ferrule.posix.Fifo;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.sm.endpoint.EndpointFiles;
import dev.ferrule.sm.os.OwnDirectory;
import dev.ferrule.sm.os.OwnerLock;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.rma.RmaLayout;
import dev.ferrule.spi.ResolvedOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The provider's behaviour beyond the contract of all providers. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SmProviderTest {

  private static final int LENGTH = 100_000;

  @TempDir Path directory = Path.of("");

  private URI address(String query) {
    return URI.create("sm://" + directory.resolve("app") + query);
  }

  record Pair(Listener listener, Connection client, Connection server) implements AutoCloseable {
    static Pair open(URI address) {
      Listener listener = Ferrule.listen(address);
      String query = address.getRawQuery() == null ? "" : "?" + address.getRawQuery();
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(URI.create(listener.uri() + query)));
      Connection server = listener.accept();
      return new Pair(listener, connecting.join(), server);
    }

    @Override
    public void close() {
      client.close();
      server.close();
      listener.close();
    }
  }

  @Test
  void shouldKeepItsFilesForTheirOwnerOnly() throws IOException {
    try (Pair pair = Pair.open(address(""))) {
      Path endpoint = Path.of(pair.listener().uri().getPath());
      assertThat(permissions(endpoint)).isEqualTo("rwx------");
      assertThat(permissions(endpoint.resolve("conns"))).isEqualTo("rwx------");
      String number = String.valueOf(pair.server().uri().getFragment());
      assertThat(permissions(endpoint.resolve("conns").resolve(number))).isEqualTo("rwx------");
      assertThat(permissions(endpoint.resolve("lock"))).isEqualTo("rw-------");
      assertThat(permissions(endpoint.resolve("fifo"))).isEqualTo("rw-------");
      assertThat(endpoint.resolve("sock")).exists();
    }
    assertThat(directory).isEmptyDirectory();
  }

  private static String permissions(Path path) throws IOException {
    return java.nio.file.attribute.PosixFilePermissions.toString(
        Files.getPosixFilePermissions(path));
  }

  @Test
  void shouldNotRemoveADirectoryThatFerruleDidNotCreate() throws IOException {
    Path app = Files.createDirectory(directory.resolve("app"));
    Pair.open(address("")).close();
    assertThat(app).isEmptyDirectory();
  }

  @Test
  void shouldRefuseInconsistentOptions() {
    assertThatThrownBy(() -> Ferrule.listen(address("?maxMessage=1MiB&buffer=64KiB")))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("buffer=64KiB")
        .hasMessageContaining("maxMessage=1MiB");
    assertThatThrownBy(() -> Ferrule.listen(address("?rinq=8")))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("rinq")
        .hasMessageContaining("ring");
  }

  @Test
  void theDefaultTimeoutOfAStoppedPeerIsAMinute() {
    assertThat(SmOptions.all())
        .filteredOn(option -> option.name().equals("peerTimeout"))
        .extracting(option -> option.defaultText())
        .containsExactly("1m");
    ResolvedOptions resolved =
        ResolvedOptions.of(ConnectionOptions.defaults(), address(""), SmOptions.all());
    assertThat(resolved.get(StandardOptions.PEER_TIMEOUT)).isEqualTo(Duration.ofSeconds(60));
  }

  @Test
  void shouldWorkWithTheSmallestRing() {
    try (Pair pair = Pair.open(address("?ring=4KiB&maxMessage=300&buffer=300"))) {
      for (int i = 0; i < 1000; i++) {
        pair.client().sender().send(MemorySegment.ofArray(new byte[i % 301]));
        try (ReceiveRegion message = pair.server().receiver().receive()) {
          assertThat(message.length()).isEqualTo(i % 301);
        }
      }
    }
  }

  @Test
  void shouldReportAWaitForRoomThatTheProgramItselfHasClaimed() {
    try (Pair pair = Pair.open(address("?ring=4KiB&maxMessage=1000&buffer=64KiB"))) {
      while (pair.client().sender().tryClaim(1) != null) {
        continue;
      }
      assertThatThrownBy(() -> pair.client().sender().claim(1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("claimed by this program");
    }
  }

  @Test
  void shouldLetAHandlerCloseTheConnectionWhateverTheMessage() {
    for (int length : new int[] {8, 300, 2_000, 50_000}) {
      try (Pair pair = Pair.open(address(""))) {
        pair.client().sender().send(MemorySegment.ofArray(new byte[length]));
        pair.client().sender().send(MemorySegment.ofArray(new byte[length]));
        int polled =
            pair.server().receiver().poll((buffer, offset, size) -> pair.server().close(), 10);
        assertThat(polled).isEqualTo(1);
      }
    }
  }

  @Test
  void shouldKeepServingWhenACloseCallbackFails() {
    try (LoggedRecords logged = LoggedRecords.of(Connection.class);
        Listener listener = Ferrule.listen(address(""))) {
      for (int i = 0; i < 3; i++) {
        CompletableFuture<Connection> connecting =
            CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
        try (Connection server = listener.accept()) {
          server.onClose(connection -> {
            throw new AssertionError("of the program");
          });
          connecting.join().close();
          assertThatThrownBy(() -> server.receiver().receive())
              .isInstanceOf(dev.ferrule.EndOfStreamException.class);
        }
      }
      while (logged.all().size() < 3) { // the last callback may run when the connection is closed
        Thread.onSpinWait();
      }
      assertThat(logged.all())
          .hasSize(3)
          .allMatch(record -> record.getThrown() instanceof AssertionError);
    }
  }

  @Test
  void shouldNotWaitBeyondTheTimeoutForAClientThatDoesNotConfirm() throws IOException {
    try (Listener listener = Ferrule.listen(address("?connectTimeout=10m"))) {
      Path endpoint = Path.of(listener.uri().getPath());
      Files.createDirectories(endpoint.resolveSibling("77"));
      Path client = endpoint.resolveSibling("77");
      try (DatagramSocket socket = new DatagramSocket(client.resolve("sock"));
          var fifo = new dev.ferrule.posix.Fifo.Reader(client.resolve("fifo"))) {
        byte[] connect = {0x31, 0, 0, 5, 0, 0, 0, 0};
        assertThat(socket.send(connect, FakeClient.memory(), endpoint.resolve("sock"))).isZero();
        assertThatThrownBy(() -> listener.accept(Duration.ofMillis(300)))
            .isInstanceOf(OperationTimeoutException.class);
        assertThat(fifo.fd()).isPositive();
      }
    }
  }

  /** Returns the number of open files in the directory and in shared memory. */
  private long ownDescriptors() {
    return SystemResources.openDescriptors().stream()
        .filter(file -> file.contains("memfd:ferrule") || file.startsWith(directory.toString()))
        .count();
  }

  @Test
  void shouldReportInvalidMemoryOfAClientAndAcceptTheNextClient() throws IOException {
    try (Listener listener = Ferrule.listen(address(""))) {
      Path endpoint = Path.of(listener.uri().getPath());
      Path client = Files.createDirectories(endpoint.resolveSibling("77"));
      Files.createFile(client.resolve("fifo")); // no FIFO
      long descriptors = ownDescriptors();
      try (DatagramSocket socket = new DatagramSocket(client.resolve("sock"));
          SealedFile memory = FakeClient.incompleteMemory()) { // without lines, and an area for RMA
        byte[] connect = {0x31, 0, 0, 1, 0, 0, 0, 0};
        assertThat(socket.send(connect, memory, endpoint.resolve("sock"))).isZero();
        assertThatThrownBy(listener.nextRequest()::accept)
            .isInstanceOf(ProtocolException.class)
            .hasMessageContaining("cannot use the client's files");
        assertThat(ownDescriptors()).as("and the memory of this test").isEqualTo(descriptors + 1);
      }
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
      listener.accept().close();
      connecting.join().close();
      assertThat(endpoint.resolve("conns")).isEmptyDirectory();
    }
  }

  @Test
  void shouldCloseAListenerAlthoughTheFileSystemIsFull() throws Exception {
    Path tmpfs = Files.createDirectory(directory.resolve("small"));
    assumeTrue(
        mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", tmpfs.toString()),
        "mounting a tmpfs needs root");
    try {
      Listener listener = Ferrule.listen(URI.create("sm://" + tmpfs + "/app"));
      Path filler = tmpfs.resolve("filler");
      assertThatThrownBy(() -> Files.write(filler, new byte[1 << 20]))
          .isInstanceOf(IOException.class);

      listener.close();

      Files.delete(filler);
      assertThat(tmpfs).isEmptyDirectory();
    } finally {
      new ProcessBuilder("umount", tmpfs.toString()).start().waitFor();
    }
  }

  @Test
  void shouldNotReceiveFromInsideAHandler() {
    try (Pair pair = Pair.open(address(""))) {
      for (int i = 1; i <= 3; i++) {
        pair.client().sender().send(MemorySegment.ofArray(new byte[i]));
      }
      List<Integer> lengths = new ArrayList<>();
      pair.server()
          .receiver()
          .poll(
              (buffer, offset, length) -> {
                lengths.add(length);
                assertThatThrownBy(pair.server().receiver()::tryReceive)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("handler");
              },
              10);
      assertThat(lengths).containsExactly(1, 2, 3);
    }
  }

  /**
   * If compiled code accesses the file, the JVM may throw its error as late as in the caller of the
   * method that handles it. Then Ferrule does not know of it, and the program sees the error.
   */
  @ParameterizedTest
  @ValueSource(strings = {"send 8", "send 100", "send 100000", "write", "read"})
  void shouldNotBlameThePeerForAFileThatTheProgramItselfHasTruncated(String what)
      throws IOException {
    Path file = Files.write(directory.resolve("program.data"), new byte[LENGTH]);
    try (Pair pair = Pair.open(address("?rma=mmap"));
        Arena arena = Arena.ofShared();
        FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, LENGTH, arena);
      Rma rma = pair.client().rma();
      RegisteredMemory local = pair.client().register(mapped);
      RemoteMemory remote =
          rma.attach(
              pair.server().rma().expose(arena.allocate(LENGTH), RmaRight.values()).handle());
      channel.truncate(0);

      Throwable thrown =
          catchThrowable(() -> {
            switch (what) {
              case "write" -> rma.await(rma.write(local, 0, remote, 0, LENGTH));
              case "read" -> rma.await(rma.read(local, 0, remote, 0, LENGTH));
              default -> pair.client().sender().send(mapped, 0, Long.parseLong(what.substring(5)));
            }
            pair.client().receiver().receive(); // where the error is thrown at the latest
          });
      if (thrown instanceof InternalError) {
        System.out.println(what + ": the JVM has thrown the error late");
        assertThat(pair.client().failure()).isNull();
        return;
      }
      assertThat(thrown)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("this program has truncated a file");
      assertThatThrownBy(() -> pair.client().sender().send(MemorySegment.ofArray(new byte[1])))
          .isInstanceOf(PeerLostException.class)
          .hasMessageContaining("this program has truncated a file");
    }
  }

  @Test
  void shouldReportThatAnEndpointBelongsToAnotherUser() throws Exception {
    assumeTrue(isRoot(), "giving a directory to another user needs root");
    try (Listener listener = Ferrule.listen(address(""))) {
      Path endpoint = Path.of(listener.uri().getPath());
      List<Path> all = List.of(endpoint.getParent(), endpoint, endpoint.resolve("lock"));
      for (Path each : all) {
        Files.setAttribute(each, "unix:uid", 12_345);
      }
      assertThatThrownBy(() -> Ferrule.connect(listener.uri()))
          .isInstanceOf(ConnectionRefusedException.class)
          .hasMessageContaining("12345")
          .hasMessageContaining("same user");
      for (Path each : all) {
        Files.setAttribute(each, "unix:uid", 0);
      }
    }
  }

  private static boolean isRoot() {
    return Posix.geteuid() == 0;
  }

  @Test
  void shouldConnectAlthoughTheFileSystemIsSmallerThanTheSharedMemory() throws Exception {
    Path tmpfs = Files.createDirectory(directory.resolve("small"));
    assumeTrue(
        mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", tmpfs.toString()),
        "mounting a tmpfs needs root");
    try {
      try (Pair pair = Pair.open(URI.create("sm://" + tmpfs))) {
        pair.client().sender().send(MemorySegment.ofArray(new byte[1 << 20]));
        assertThat(pair.server().receiver().receive().length()).isEqualTo(1 << 20);
      }
      assertThat(tmpfs).isEmptyDirectory();
    } finally {
      new ProcessBuilder("umount", tmpfs.toString()).start().waitFor();
    }
  }

  private static boolean mount(String... arguments) throws Exception {
    ProcessBuilder builder = new ProcessBuilder("mount");
    builder.command().addAll(List.of(arguments));
    return builder.redirectErrorStream(true).start().waitFor() == 0;
  }

  @Test
  void shouldAnswerAClientOfAnotherVersionWithItsOwn() throws IOException {
    try (Listener listener = Ferrule.listen(address(""))) {
      Path endpoint = Path.of(listener.uri().getPath());
      Path stranger = Files.createDirectories(endpoint.resolveSibling("77")).resolve("sock");
      try (DatagramSocket socket = new DatagramSocket(stranger)) {
        byte[] connectOfVersion9 = {(byte) 0x91, 0, 0, 5, 0, 0, 0, 0};
        assertThat(socket.send(connectOfVersion9, null, endpoint.resolve("sock"))).isZero();
        DatagramSocket.Datagram answer = null;
        while (answer == null) {
          answer = socket.receive();
        }
        assertThat(answer.bytes()).startsWith(0x37); // VERSION_MISMATCH, of version 3
      }
      Files.delete(stranger);
      Files.delete(stranger.getParent());
    }
  }

  @ParameterizedTest(name = "an answer of type {0}")
  @ValueSource(ints = {2, 3, 6, 7, 8})
  void shouldReportWhichVersionsDoNotMatch(int type) throws IOException {
    Path endpoint = directory.resolve("app/5/5");
    Files.createDirectories(endpoint.getParent());
    assertThat(OwnDirectory.create(endpoint)).isTrue();
    OwnerLock lock = OwnerLock.tryAcquire(endpoint.resolve("lock"));
    assertThat(lock).isNotNull();
    Fifo.Reader fifo = new Fifo.Reader(endpoint.resolve("fifo"));
    try (lock;
        fifo;
        DatagramSocket socket = new DatagramSocket(endpoint.resolve("sock"))) {
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(address("/5/5")));
      DatagramSocket.Datagram request = null;
      while (request == null) {
        request = socket.receive();
      }
      byte[] answerOfVersion9 = request.bytes().clone();
      answerOfVersion9[0] = (byte) (0x90 | type);
      socket.send(answerOfVersion9, null, Path.of(String.valueOf(request.from())));
      assertThatThrownBy(connecting::join)
          .cause()
          .isInstanceOf(VersionMismatchException.class)
          .hasMessageContaining("version 9")
          .hasMessageContaining("version 3");
    }
  }

  @Test
  void shouldReportThatAnEndpointBelongsToAClient() {
    try (Pair pair = Pair.open(address(""))) {
      Path listener = Path.of(pair.listener().uri().getPath());
      URI client = URI.create("sm://" + listener.resolveSibling("2"));
      assertThatThrownBy(() -> Ferrule.connect(client))
          .isInstanceOf(ConnectionRefusedException.class)
          .hasMessageContaining("no listener at " + client)
          .hasMessageContaining("belongs to a client, or to a server that is starting");
    }
  }

  @Test
  void shouldReportThatAListenerIsAliveButDoesNotAccept() {
    try (Listener listener = Ferrule.listen(address(""))) {
      assertThatThrownBy(
              () -> Ferrule.connect(URI.create(listener.uri() + "?connectTimeout=100ms")))
          .isInstanceOf(OperationTimeoutException.class)
          .hasMessageContaining("did not accept");
    }
  }

  @Test
  void shouldReportThatThePathIsAFile() throws IOException {
    Files.writeString(directory.resolve("app"), "");
    assertThatThrownBy(() -> Ferrule.listen(address("")))
        .isInstanceOf(InvalidAddressException.class)
        .hasMessageContaining("is a file");
  }

  @Test
  void shouldReportToAClientThatThePathIsAFile() throws IOException {
    Files.writeString(directory.resolve("app"), "");
    assertThatThrownBy(() -> Ferrule.connect(address("")))
        .isInstanceOf(InvalidAddressException.class)
        .hasMessageContaining(directory.resolve("app") + " is a file, not a directory");
  }

  @Test
  void shouldRecognizeADirectoryThatIsBeingCreated() throws Exception {
    Path app = directory.resolve("app");
    AtomicBoolean done = new AtomicBoolean();
    CompletableFuture<Void> maker =
        CompletableFuture.runAsync(() -> {
          while (!done.get()) {
            assertThat(app.toFile().mkdir()).isTrue();
            assertThat(app.toFile().delete()).isTrue();
          }
        });
    try {
      for (int i = 0; i < 2_000; i++) {
        assertThatThrownBy(() -> Ferrule.connect(address("")))
            .isInstanceOf(ConnectionRefusedException.class);
      }
    } finally {
      done.set(true);
    }
    maker.get();
  }

  @Test
  void shouldReportAnAddressTakenForADirectoryThatDoesNotExist() {
    assertThatThrownBy(() -> Ferrule.connect(address("/12/99999999")))
        .isInstanceOf(ConnectionRefusedException.class)
        .hasMessageContaining("no listener at sm://" + directory.resolve("app/12/99999999"))
        .hasMessageContaining("at most 9 and 5 digits");
    assertThatThrownBy(() -> Ferrule.connect(address("")))
        .isInstanceOf(ConnectionRefusedException.class)
        .hasMessageContaining("no listener at sm://" + directory.resolve("app"))
        .hasMessageContaining("the directory does not exist");
  }

  @Test
  void shouldNameAFullFileSystemWhenListeningInADirectoryThatDoesNotExist() throws Exception {
    Path tmpfs = Files.createDirectory(directory.resolve("small"));
    assumeTrue(
        mount("-t", "tmpfs", "-o", "size=64k,nr_inodes=6", "tmpfs", tmpfs.toString()),
        "mounting a tmpfs needs root");
    try {
      assertThatThrownBy(() -> Ferrule.listen(URI.create("sm://" + tmpfs + "/above/app")))
          .isInstanceOf(ResourceExhaustedException.class)
          .hasMessageContaining(
              "the file system of " + tmpfs + " has 64 KiB free, and room for 5 files (inodes)");
      assertThat(tmpfs).isEmptyDirectory();
    } finally {
      new ProcessBuilder("umount", tmpfs.toString()).start().waitFor();
    }
  }

  @Test
  void shouldCloseTheConnectionWhenThePeerWritesGarbageIntoTheRing() {
    try (Pair pair = Pair.open(address("?ring=4KiB"))) {
      RingLayout layout = new RingLayout(12, 65_536, 1 << 20);
      MemorySegment memory = ConnectionMemory.ofReceiver(pair.server()).ring();
      long longerThanTheRing = 0xffffL << 4 | 1; // as an inline message
      memory.set(ValueLayout.JAVA_LONG, layout.recordsOffset(), longerThanTheRing);

      assertThatThrownBy(() -> pair.server().receiver().receive())
          .isInstanceOf(ProtocolException.class)
          .hasMessageContaining("65535 bytes");
      assertThat(pair.server().state()).isEqualTo(ConnectionState.FAILED);
      assertThat(pair.server().failure()).isInstanceOf(ProtocolException.class);
      assertThatThrownBy(() -> pair.client().receiver().receive())
          .as("the peer receives the reason")
          .isInstanceOf(PeerLostException.class)
          .hasMessageContaining("protocol violation by this side");
    }
  }

  /** The peer announces a copy from or to each region when that is to be taken back. */
  @Test
  void shouldNotWaitForAHostilePeerOnceForEachRegionThatIsExposed() throws Exception {
    int regions = 12;
    AtomicBoolean closed = new AtomicBoolean();
    AtomicInteger waitedFor = new AtomicInteger();
    try (Arena arena = Arena.ofShared();
        Pair pair = Pair.open(address("?closeTimeout=0"))) {
      for (int i = 0; i < regions; i++) {
        pair.server().rma().expose(arena.allocate(64), RmaRight.READ);
      }
      MemorySegment exposed = ConnectionMemory.ofSender(pair.client()).rma();
      MemorySegment said = ConnectionMemory.ofReceiver(pair.client()).rma();
      Thread hostile =
          Thread.ofPlatform()
              .start(() -> {
                for (long region = 0; region < regions && !closed.get(); region++) {
                  said.set(ValueLayout.JAVA_LONG, RmaLayout.IN_USE, region + 1);
                  while (generation(exposed, region) != 0) {
                    Thread.onSpinWait();
                  }
                  LockSupport.parkNanos(900_000_000); // just not long enough for a timeout
                  waitedFor.incrementAndGet();
                }
              });
      pair.server().close();
      int regionsWaitedFor = waitedFor.get();
      closed.set(true);
      hostile.join();
      assertThat(regionsWaitedFor).isLessThan(regions - 1);
    }
  }

  /** The peer announces a copy when its connection ends, and never revokes the announcement. */
  @Test
  void shouldNotLetAHostilePeerKeepACloseCallbackFromTheOtherConnections() throws Exception {
    try (Arena arena = Arena.ofShared();
        Pair pair = Pair.open(address("?closeTimeout=10m"))) {
      pair.server().rma().expose(arena.allocate(64), RmaRight.READ);
      CompletableFuture<Void> closing = new CompletableFuture<>();
      pair.server()
          .onClose(ended -> {
            ended.close();
            closing.complete(null);
          });
      MemorySegment said = ConnectionMemory.ofSender(pair.server()).rma();
      Thread hostile =
          Thread.ofPlatform()
              .daemon()
              .start(() -> {
                while (!closing.isDone()) {
                  said.set(ValueLayout.JAVA_LONG, RmaLayout.IN_USE, 1L);
                }
              });
      pair.client().close();
      closing.get(90, TimeUnit.SECONDS); // far less than the timeout of the close
      hostile.join();
    }
  }

  private static long generation(MemorySegment exposed, long region) {
    return exposed.get(ValueLayout.JAVA_LONG, RmaLayout.REGIONS + region * RmaLayout.REGION_SIZE);
  }

  @Test
  void shouldSleepWhileAReceiverIsBlockedUntilItIsWokenOnce() throws Exception {
    try (Pair pair = Pair.open(address("?wait=block"))) {
      while (pair.client().counters().wakeupsSent().orElseThrow() == 0) {
        Thread receiver =
            Thread.ofPlatform().start(() -> pair.server().receiver().receive().close());
        while (!Sleepers.isAsleep(receiver)) {
          Thread.onSpinWait();
        }
        pair.client().sender().send(MemorySegment.ofArray(new byte[1]));
        receiver.join(); // which may have checked once more when the message arrived
      }
      assertThat(pair.client().counters().wakeupsSent()).hasValue(1);
    }
  }

  @Test
  void shouldMakeNoSystemCallForAMessageWhileBothSidesSpin() throws Exception {
    try (Pair pair = Pair.open(address("?wait=spin"))) {
      int count = 20_000;
      CompletableFuture<Void> echo =
          CompletableFuture.runAsync(() -> {
            for (int i = 0; i < count; i++) {
              try (ReceiveRegion message = pair.server().receiver().receive()) {
                pair.server().sender().send(message.segment());
              }
            }
          });
      MemorySegment message = MemorySegment.ofArray(new byte[100]);
      for (int i = 0; i < count; i++) {
        pair.client().sender().send(message);
        pair.client().receiver().receive().close();
      }
      echo.join();
      assertThat(pair.client().counters().wakeupsSent()).hasValue(0);
      assertThat(pair.server().counters().wakeupsSent()).hasValue(0);
      assertThat(pair.client().counters().wakeupsReceived()).isZero();
    }
  }

  @Test
  void shouldNotLoseAWakeUpThatDidNotFitIntoTheFifo() throws Exception {
    try (Pair pair = Pair.open(address("?wait=block"))) {
      Path fifo = Path.of(pair.listener().uri().getPath()).resolve(EndpointFiles.FIFO);
      CompletableFuture<Integer> receiving =
          CompletableFuture.supplyAsync(
              () -> {
                int sum = 0;
                for (int i = 0; i < 200; i++) {
                  try (ReceiveRegion message = pair.server().receiver().receive()) {
                    sum += message.length();
                  }
                }
                return sum;
              },
              task -> Thread.ofVirtual().start(task)); // woken by the FIFO
      byte[] noise = new byte[4096]; // headers of no connection, and of no type
      try (var channel = Files.newByteChannel(fifo, java.nio.file.StandardOpenOption.WRITE)) {
        for (int i = 0; i < 200; i++) {
          channel.write(java.nio.ByteBuffer.wrap(noise));
          pair.client().sender().send(MemorySegment.ofArray(new byte[1]));
        }
      }
      assertThat(receiving.get(90, TimeUnit.SECONDS)).isEqualTo(200);
    }
  }

  /** A writer of packets, each of which takes a page of the pipe, fills it with a few of them. */
  @Test
  void shouldNotLoseAWakeUpThatFoundNoRoomBesideAFewPacketsOfAnotherPeer() throws Exception {
    CountDownLatch stalled = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    try (Pair pair = Pair.open(address("?wait=block&peerTimeout=0"));
        Arena arena = Arena.ofConfined()) {
      // by the FIFO, as a platform thread sleeps on its flag
      Thread receiver = Thread.ofVirtual().start(() -> pair.server().receiver().receive().close());
      while (receiver.getState() != Thread.State.WAITING) {
        Thread.onSpinWait();
      }
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(pair.listener().uri()));
      Connection other = pair.listener().accept();
      other.onClose(closed -> {
        stalled.countDown();
        awaitUninterruptibly(goOn);
      });
      connecting.join().close();
      stalled.await();
      Path fifo = Path.of(pair.listener().uri().getPath()).resolve(EndpointFiles.FIFO);
      int packets = fill(fifo, 2 | 2 << 4, arena); // wake-ups for the other connection
      assertThat(packets).isLessThan(1024);
      pair.client().sender().send(MemorySegment.ofArray(new byte[1]));
      goOn.countDown();

      receiver.join(Duration.ofSeconds(90));
      assertThat(receiver.isAlive()).isFalse();
      other.close();
    } finally {
      goOn.countDown();
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Writes headers to a pipe, each as a packet, until there is no room; returns their number. */
  private static int fill(Path fifo, int header, Arena arena) {
    int direct = System.getProperty("os.arch").equals("aarch64") ? 0200000 : 040000;
    int fd = Posix.open(fifo.toString(), Posix.O_WRONLY | Posix.O_NONBLOCK, 0);
    int result = Posix.fcntl(fd, Posix.F_SETFL, Posix.O_NONBLOCK | direct);
    assertThat(result).isZero();
    MemorySegment packet = arena.allocateFrom(ValueLayout.JAVA_INT, header);
    int count = 0;
    while (Posix.write(fd, packet) == packet.byteSize()) {
      count++;
    }
    Posix.close(fd);
    return count;
  }

  @Test
  void shouldNotLoseAWakeUpThatGarbageInTheFifoHasTornApart() throws Exception {
    try (Pair pair = Pair.open(address("?wait=block&peerTimeout=0"))) {
      Path fifo = Path.of(pair.listener().uri().getPath()).resolve(EndpointFiles.FIFO);
      CompletableFuture<Void> echo =
          CompletableFuture.runAsync(
              () -> {
                for (int i = 0; i < 500; i++) {
                  try (ReceiveRegion message = pair.server().receiver().receive()) {
                    pair.server().sender().send(message.segment());
                  }
                }
              },
              task -> Thread.ofPlatform().start(task));
      Random random = new Random(7);
      try (var channel = Files.newByteChannel(fifo, java.nio.file.StandardOpenOption.WRITE)) {
        for (int i = 0; i < 500; i++) {
          byte[] garbage = new byte[1 + random.nextInt(7)];
          random.nextBytes(garbage);
          channel.write(java.nio.ByteBuffer.wrap(garbage));
          pair.client().sender().send(MemorySegment.ofArray(new byte[1]));
          pair.client().receiver().receive(Duration.ofSeconds(90)).close();
        }
      }
      echo.get(90, TimeUnit.SECONDS);
    }
  }

  @Test
  void shouldShareOneEndpointAmongTheConnectionsOfAProcessToADirectory() throws Exception {
    try (Pair pair = Pair.open(address(""))) {
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(pair.listener().uri()));
      try (Connection server = pair.listener().accept();
          Connection client = connecting.join()) {
        Path own = Path.of(pair.listener().uri().getPath());
        assertThat(own.getParent().toFile().list()).hasSize(2);
        client.sender().send(MemorySegment.ofArray(new byte[2]));
        pair.client().sender().send(MemorySegment.ofArray(new byte[1]));
        assertThat(server.receiver().receive().length()).isEqualTo(2);
        assertThat(pair.server().receiver().receive().length()).isEqualTo(1);
      }
      assertThat(pair.client().state()).isEqualTo(ConnectionState.OPEN);
    }
  }

  @Test
  void shouldCloseWhileTheProgramHasAMessageInASystemCall() throws Exception {
    ConnectionOptions options =
        ConnectionOptions.builder().set(StandardOptions.WAIT, WaitStrategy.BLOCK).build();
    Listener listener = Ferrule.listen(address(""), options);
    CompletableFuture<Connection> connecting =
        CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
    Connection server = listener.accept();
    Connection client = connecting.join();
    client.sender().send(MemorySegment.ofArray(new byte[100_000]));
    ReceiveRegion message = server.receiver().receive();
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    // a pipe holds 64 KiB, so the write blocks in the kernel while it uses the message's memory
    CompletableFuture<Void> writing =
        CompletableFuture.runAsync(() -> {
          try (var out =
              java.nio.channels.FileChannel.open(pipe, java.nio.file.StandardOpenOption.WRITE)) {
            out.write(message.segment().asByteBuffer());
          } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
          }
        });
    try (var in = Files.newInputStream(pipe)) {
      assertThat(in.read()).isZero();
      server.close();
      assertThat(server.state()).isEqualTo(ConnectionState.CLOSED);
      in.readAllBytes();
    }
    writing.join();
    client.close();
    listener.close();
    assertThat(directory.resolve("app")).doesNotExist();
  }
}
