// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.WaitStrategy;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A server protects its machine from its clients. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostileClientTest {

  private static final int MAX_MESSAGE = 1 << 20;

  @TempDir private Path folder;

  private final BlockingQueue<String> problems = new LinkedBlockingQueue<>();
  private UnaryOperator<Listener> served = UnaryOperator.identity();
  private LocalServer server;

  private void serve(ServerLimits limits, boolean single) {
    server = LocalServer.start(folder, limits, single, served, problems::add);
  }

  /** Returns limits of a server with a short time limit for bounces and records. */
  private static ServerLimits impatient() {
    return new ServerLimits(MAX_MESSAGE, true, TimeUnit.MILLISECONDS.toNanos(50));
  }

  private static ServerLimits limits() {
    return new ServerLimits(MAX_MESSAGE, true);
  }

  @AfterEach
  void stop() throws InterruptedException {
    if (server != null) {
      server.stop();
    }
  }

  private Connection connect() {
    return server.connect();
  }

  private static BenchClient client(Connection connection) {
    return new BenchClient(connection, WaitStrategy.BLOCK);
  }

  private static void assertRefused(Connection connection, String reason) {
    assertThatThrownBy(() -> client(connection).awaitReply())
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("the server refused the round: ")
        .hasMessageContaining(reason);
    assertThatThrownBy(() -> connection.receiver().receive().close())
        .as("and ends the connection")
        .isInstanceOf(EndOfStreamException.class);
  }

  /** A client that does not receive fills the ring of its direction. */
  @Test
  void aClientThatDoesNotReceiveStallsNoOther() throws Exception {
    serve(limits(), true);
    try (Connection flood = connect();
        Connection other = connect()) {
      client(flood).start(Round.of(Round.Kind.ECHO, 1L << 40, 0));
      Thread flooding =
          Thread.ofPlatform()
              .start(() -> {
                MemorySegment message = MemorySegment.ofArray(new byte[1_000]);
                try {
                  while (true) {
                    flood.sender().send(message);
                  }
                } catch (ConnectionClosedException e) {
                  return; // by the server
                }
              });
      flooding.join();
      client(other).start(Round.of(Round.Kind.OPEN_FLOOR, 0, 0));
      assertThat(client(other).awaitReply()).isNotNull();
    }
    assertThat(problems.take()).contains("its client does not receive");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aClientThatDoesNotConfirmItsConnectionDelaysNoOther(boolean single) throws Exception {
    SilentClients silent = new SilentClients(1);
    served = silent::among;
    serve(limits(), single);
    CompletableFuture<Connection> first = CompletableFuture.supplyAsync(this::connect);
    silent.awaitAll();
    try (Connection second = connect()) {
      client(second).start(Round.of(Round.Kind.OPEN_FLOOR, 0, 0));
      assertThat(client(second).awaitReply()).isNotNull();
    } finally {
      silent.release();
    }
    first.join().close();
  }

  /** Returns a message like a round, but with the path of a file. */
  private static MemorySegment roundWithPath(Path file) {
    byte[] path = file.toString().getBytes(StandardCharsets.UTF_8);
    MemorySegment message = MemorySegment.ofArray(new byte[28 + path.length]);
    message.set(ValueLayout.JAVA_INT_UNALIGNED, 0, 0x444e5246);
    message.set(ValueLayout.JAVA_INT_UNALIGNED, 4, Round.Kind.OPEN_FLOOR.ordinal());
    message.set(ValueLayout.JAVA_INT_UNALIGNED, 24, path.length);
    MemorySegment.copy(path, 0, message, ValueLayout.JAVA_BYTE, 28, path.length);
    return message;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFileThatAClientNamesIsNotTouched(boolean single) throws Exception {
    Path file = Files.writeString(folder.resolve("precious"), "short");
    serve(limits(), single);
    try (Connection connection = connect()) {
      connection.sender().send(roundWithPath(file));
      assertRefused(connection, "the client sent no round");
    }
    assertThat(problems.take()).contains("the client sent no round");
    assertThat(file).hasContent("short");
  }

  /** Requests a floor; returns the file that the server has created for it. */
  private static Path openedFloor(Connection connection) {
    client(connection).start(Round.of(Round.Kind.OPEN_FLOOR, 0, 0));
    RoundReply reply = client(connection).awaitReply();
    assertThat(reply.done()).isTrue();
    return new FloorFile(reply.messages()).path();
  }

  /** Another file may get the number of the closed descriptor. */
  private static void awaitRemoval(Path descriptor) {
    while (isFloor(descriptor)) {
      Thread.onSpinWait();
    }
  }

  private static boolean isFloor(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString().contains("memfd:" + SealedFile.NAME);
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void theServerCreatesTheFileOfTheFloorAndRemovesItAtTheNextRound() throws Exception {
    serve(limits(), false);
    try (Connection connection = connect()) {
      Path file = openedFloor(connection);
      client(connection).start(Round.of(Round.Kind.ECHO, 0, 0));
      awaitRemoval(file);
    }
  }

  /** An access beyond the end of a truncated file would raise SIGBUS. */
  @Test
  void aClientCannotTruncateTheFileOfTheFloor() throws Exception {
    serve(limits(), false);
    try (Connection connection = connect()) {
      client(connection).start(Round.of(Round.Kind.OPEN_FLOOR, 0, 0));
      FloorFile file = new FloorFile(client(connection).awaitReply().messages());
      file.open().close();
      try (FileChannel channel = FileChannel.open(file.path(), StandardOpenOption.WRITE)) {
        assertThatThrownBy(() -> channel.truncate(0)).isInstanceOf(IOException.class);
      }
      assertThat(Files.size(file.path())).isEqualTo(FloorFile.BYTES);
    }
  }

  @Test
  void theFileOfAnUnusedFloorIsRemovedWhenItsClientEnds() {
    serve(limits(), false);
    Path file;
    try (Connection connection = connect()) {
      file = openedFloor(connection);
      assertThat(file).exists();
    }
    awaitRemoval(file);
  }

  @Test
  void aFloorIsMeasured() {
    serve(new ServerLimits(MAX_MESSAGE, true, Long.MAX_VALUE), false);
    try (Connection connection = connect();
        BenchClient client = client(connection)) {
      assertThat(client.openFloor()).isTrue();
      Floor floor = client.floor().orElseThrow();
      assertThat(floor.shortRound()).isPositive();
      assertThat(floor.ringRound(64)).isPositive();
      assertThat(floor.stream(64, 10_000)).isPositive();
      assertThat(floor.shortRound()).isPositive();
    }
  }

  @Test
  void noFloorIsOpenedOverANetwork() {
    serve(new ServerLimits(MAX_MESSAGE, false), false);
    try (Connection connection = connect()) {
      client(connection).start(Round.of(Round.Kind.OPEN_FLOOR, 0, 0));
      assertThat(client(connection).awaitReply()).isEqualTo(new RoundReply(false, 0, 0, 0));
    }
  }

  @Test
  void aClientOpensOnlyAFileThatAServerOfItsUserHasCreated() throws Exception {
    Path precious =
        Files.write(folder.resolve("precious"), new byte[Math.toIntExact(FloorFile.BYTES)]);
    try (FloorFile opened = descriptor(Posix.open(precious.toString(), Posix.O_RDWR, 0));
        FloorFile unsealed =
            descriptor(Posix.memfdCreate(SealedFile.NAME, Posix.MFD_ALLOW_SEALING))) {
      assertThatThrownBy(opened::open).isInstanceOf(IOException.class);
      assertThatThrownBy(unsealed::open).isInstanceOf(IOException.class);
      assertThatThrownBy(() -> BareRing.ofClient(unsealed.path(), () -> {}).close())
          .isInstanceOf(IOException.class);
      assertThatThrownBy(() -> new CacheLine(unsealed.path(), () -> {}).close())
          .isInstanceOf(IOException.class);
      Files.write(unsealed.path(), new byte[Math.toIntExact(FloorFile.BYTES)]);
      assertThatThrownBy(unsealed::open).isInstanceOf(IOException.class);
      FloorFile absent = descriptor(Integer.MAX_VALUE);
      assertThatThrownBy(absent::open).isInstanceOf(IOException.class);
    }
  }

  private static FloorFile descriptor(int descriptor) {
    return new FloorFile(ProcessHandle.current().pid() << Integer.SIZE | descriptor);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void messagesBeyondTheServersLimitAllocateNothing(boolean single) {
    serve(limits(), single);
    try (Connection connection = connect()) {
      client(connection).start(Round.of(Round.Kind.SINK, 1, Integer.MAX_VALUE));
      assertRefused(connection, "maxMessage=" + Integer.MAX_VALUE);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void noMoreMemoryThanTheLimitIsExposed(boolean single) {
    serve(limits(), single);
    try (Connection connection = connect()) {
      client(connection).start(Round.of(Round.Kind.EXPOSE, 0, Integer.MAX_VALUE));
      assertRefused(connection, "cannot be exposed");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aClientHasOneExposureAtATimeAndReleasesItAtItsEnd(boolean single) {
    int third = (int) (ServerLimits.MAX_EXPOSED_BYTES / 3);
    ServerLimits limits = limits();
    limits.expose(third); // as other clients do
    limits.expose(third - 4096);
    serve(limits, single);
    for (int i = 0; i < 3; i++) {
      try (Connection connection = connect()) {
        for (int j = 0; j < 5; j++) {
          client(connection).expose(4096, false);
        }
        client(connection).start(Round.of(Round.Kind.EXPOSE, 0, third + 8192));
        assertRefused(connection, "cannot be exposed");
      }
    }
    long left = ServerLimits.MAX_EXPOSED_BYTES - 2L * third + 4096;
    while (true) { // until the server's threads have noticed the end of the last client
      try {
        limits.expose(left);
        return;
      } catch (RoundRefusedException e) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void theNumberOfBouncesIsLimited() {
    serve(limits(), false);
    try (Connection connection = connect()) {
      client(connection).start(Round.of(Round.Kind.FLOOR, Long.MAX_VALUE, 0));
      assertRefused(connection, "bounces");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"RING_ECHO", "RING_SINK"})
  void theNumberOfMessagesOnTheRingIsLimited(Round.Kind kind) {
    serve(limits(), false);
    try (Connection connection = connect()) {
      client(connection).start(Round.of(kind, Long.MAX_VALUE, 0));
      assertRefused(connection, "exceed the limit of");
    }
  }

  /** The ring's records are addressed without a check. */
  @ParameterizedTest
  @EnumSource(names = {"RING_ECHO", "RING_SINK"})
  void messagesBeyondTheRingAreRefused(Round.Kind kind) {
    serve(limits(), false);
    try (Connection connection = connect();
        BenchClient client = client(connection)) {
      assertThat(client.openFloor()).isTrue();
      client.start(Round.of(kind, 1, BareRing.MAX_PAYLOAD + 1));
      assertRefused(connection, "the bare ring's limit");
    }
  }

  @ParameterizedTest
  @CsvSource({"CALLS, false", "CALLS, true", "CALLS_WARMUP, true"})
  void aOneWayRoundOnAConnectionInBothDirectionsIsRefused(Round.Kind kind, boolean single) {
    serve(limits(), single);
    try (Connection connection = connect()) {
      client(connection).start(Round.of(kind, 1, 8));
      assertRefused(connection, "requested a one-way round");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void memoryWithoutBytesIsNotAllocated(boolean single) {
    serve(limits(), single);
    try (Connection connection = connect()) {
      client(connection).start(Round.of(Round.Kind.ALLOCATE, 0, 0));
      assertRefused(connection, "0 bytes");
    }
  }

  @ParameterizedTest
  @CsvSource({"FLOOR, false", "RING_ECHO, false", "RING_SINK, false", "RING_SINK, true"})
  void aFloorRoundWithoutAFloorIsRefused(Round.Kind kind, boolean single) {
    serve(limits(), single);
    try (Connection connection = connect()) {
      client(connection).start(Round.of(kind, 1, 8));
      assertRefused(connection, "opened no floor");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"RING_ECHO", "RING_SINK"})
  void aClientThatStopsUsingTheRingTimesOut(Round.Kind kind) throws Exception {
    serve(impatient(), false);
    try (Connection connection = connect();
        BenchClient client = client(connection)) {
      assertThat(client.openFloor()).isTrue();
      client.start(Round.of(kind, 10, 8));
      assertThatThrownBy(() -> connection.receiver().receive().close())
          .isInstanceOf(EndOfStreamException.class);
    }
    assertThat(problems.take()).contains("stopped using the bare ring");
  }

  @Test
  void aClientHasOneFloorAtATimeAndReleasesItAtItsEnd() {
    ServerLimits limits = limits();
    for (int i = 1; i < ServerLimits.MAX_FLOORS; i++) {
      assertThat(limits.openFloor()).isTrue(); // as other clients do
    }
    serve(limits, false);
    try (Connection connection = connect();
        Connection other = connect()) {
      for (int i = 0; i < 3; i++) {
        assertThat(openedFloor(connection)).exists();
      }
      client(other).start(Round.of(Round.Kind.OPEN_FLOOR, 0, 0));
      assertThat(client(other).awaitReply()).isEqualTo(new RoundReply(false, 0, 0, 0));
    }
    while (!limits.openFloor()) { // until the server's thread has noticed the end of the client
      Thread.onSpinWait();
    }
    assertThat(limits.openFloor()).isFalse();
  }

  @Test
  void aClientThatStopsBouncingTimesOut() throws Exception {
    serve(impatient(), false);
    try (Connection connection = connect();
        BenchClient client = client(connection)) {
      assertThat(client.openFloor()).isTrue();
      client.start(Round.of(Round.Kind.FLOOR, 10, 0));
      assertThatThrownBy(() -> connection.receiver().receive().close())
          .isInstanceOf(EndOfStreamException.class);
    }
    assertThat(problems.take()).contains("stopped bouncing");
  }

  @Test
  void clientsBeyondTheLimitAreRejectedWithTheReasonUntilOneHasEnded() throws Exception {
    ServerLimits limits = limits();
    for (int i = 1; i < ServerLimits.MAX_CLIENTS; i++) {
      assertThat(limits.admit()).isTrue();
    }
    serve(limits, false);
    try (Connection last = connect()) {
      assertThatThrownBy(this::connect).hasMessageContaining("limit of clients is reached");
      assertThat(problems.take()).contains(" rejected: ");
      client(last).start(Round.of(Round.Kind.ECHO, 1, 0));
      last.sender().send(MemorySegment.ofArray(new byte[3]));
      try (ReceiveRegion echo = last.receiver().receive()) {
        assertThat(echo.length()).isEqualTo(3);
      }
    }
    while (!limits.admit()) { // until the server has noticed the end of the last client
      Thread.onSpinWait();
    }
    limits.removeClient();
    connect().close();
  }

  @Test
  void reasonsOfAServerAreShownWithoutControlCharacters() {
    byte[] reason = "\033[2Jno".getBytes(StandardCharsets.UTF_8);
    MemorySegment message = MemorySegment.ofArray(new byte[Long.BYTES + reason.length]);
    MemorySegment.copy(
        "FREFUSAL".getBytes(StandardCharsets.US_ASCII), 0, message, ValueLayout.JAVA_BYTE, 0, 8);
    MemorySegment.copy(reason, 0, message, ValueLayout.JAVA_BYTE, Long.BYTES, reason.length);
    assertThatThrownBy(() -> Refusal.throwIfRefused(message))
        .hasMessage("the server refused the round: \\u001b[2Jno");
    assertThat(List.of(new RoundReply(true, 1, 2, 3)))
        .as("a reply is no refusal")
        .allSatisfy(reply -> assertThat(reply.done()).isTrue());
  }
}
