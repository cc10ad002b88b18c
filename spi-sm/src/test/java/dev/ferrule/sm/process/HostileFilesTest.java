// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.Ferrule;
import dev.ferrule.FerruleException;
import dev.ferrule.posix.DatagramSocket;
import dev.ferrule.sm.ConnectionMemory;
import dev.ferrule.sm.endpoint.EndpointFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A peer that writes arbitrary bytes to every file it may open, while a process works: the process
 * must neither crash nor hang. The system property {@value #ROUNDS_PROPERTY} sets the number of
 * rounds, see CONTRIBUTING.md.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostileFilesTest extends ProcessTest {

  private static final String ROUNDS_PROPERTY = "ferrule.soak.rounds";
  private static final int ROUNDS = Integer.getInteger(ROUNDS_PROPERTY, 1);
  private static final long SEED = Long.getLong("ferrule.soak.seed", System.nanoTime());
  private static final int WRITES = 200;
  private static final int LONGEST_WRITE = 64;
  private static final int PIPE_CAPACITY = 1 << 16;

  private final Random random = new Random(SEED);
  private OtherProcess victim;
  private URI address;
  private Collection<Connection> attacked = List.of();

  @BeforeEach
  void start() {
    System.out.println(getClass().getSimpleName() + ": seed " + SEED + ", " + ROUNDS + " rounds");
    victim = OtherProcess.start("serve", address() + "/victim?peerTimeout=20s");
    address = URI.create(victim.line());
  }

  @AfterEach
  void end() {
    victim.close();
  }

  /** Returns both sides' files of a kind, of all connections. */
  private List<Path> files(String name) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      return paths.filter(path -> path.endsWith(name)).collect(Collectors.toList());
    } catch (UncheckedIOException e) {
      return List.of(); // deleted concurrently
    }
  }

  /** Writes noise to an area of the shared memory of all connections, in both directions. */
  private void scribble(Function<ConnectionMemory, MemorySegment> area) {
    for (Connection connection : attacked) {
      for (ConnectionMemory memory : ConnectionMemory.ofBoth(connection)) {
        MemorySegment target = area.apply(memory);
        for (int i = 0; i < WRITES; i++) {
          MemorySegment noise = MemorySegment.ofBuffer(noise());
          // mostly where the data is: at the start
          long end = random.nextBoolean() ? Math.min(target.byteSize(), 8192) : target.byteSize();
          long offset = random.nextLong(end - LONGEST_WRITE);
          MemorySegment.copy(noise, 0, target, offset, noise.byteSize());
        }
      }
    }
  }

  private ByteBuffer noise() {
    byte[] bytes = new byte[1 + random.nextInt(LONGEST_WRITE)];
    if (random.nextInt(4) > 0) {
      random.nextBytes(bytes); // or zeros, which are common
    }
    return ByteBuffer.wrap(bytes);
  }

  /** Fills each FIFO with headers and pieces of headers. */
  private void fillFifos() throws IOException {
    for (Path fifo : files(EndpointFiles.FIFO)) {
      try (FileChannel channel =
          FileChannel.open(
              fifo, new OpenOption[] {StandardOpenOption.READ, StandardOpenOption.WRITE})) {
        for (int i = 0; i < PIPE_CAPACITY / 4 / LONGEST_WRITE; i++) {
          channel.write(noise()); // its reader is faster; this test waits otherwise
        }
      }
    }
  }

  private void sendDatagrams() throws IOException {
    List<Path> sockets = files(EndpointFiles.SOCKET);
    Path own = directory.resolve("hostile");
    try (DatagramSocket socket = new DatagramSocket(own)) {
      for (int i = 0; i < WRITES; i++) {
        for (Path each : sockets) {
          socket.send(noise().array(), null, each); // fails if its queue is full
        }
      }
    } finally {
      Files.deleteIfExists(own);
    }
  }

  private Map<Load, Connection> connect() {
    Map<Load, Connection> connections = new HashMap<>();
    for (Load load : Load.values()) {
      Connection connection = Ferrule.connect(address, Load.options(load.counterpart()));
      connections.put(load, connection);
      Thread.ofPlatform()
          .daemon()
          .start(() -> {
            try {
              load.run(connection);
            } catch (FerruleException | AssertionError | IllegalStateException e) {
              return; // it reads the same noise
            }
          });
    }
    return connections;
  }

  /**
   * Checks that the victim is alive. Its attacked connections fail or continue; it answers, and
   * serves the next client.
   */
  private void assertVictimLives() throws Exception {
    try (Connection connection = Ferrule.connect(address, Load.options(Load.ECHO))) {
      for (int i = 0; i < 100; i++) {
        Load.send(connection, i);
        Load.receive(connection, i);
      }
    }
  }

  private void attack(Attack attack) throws Exception {
    List<String> said = new ArrayList<>();
    for (int i = 0; i < ROUNDS; i++) {
      Map<Load, Connection> connections = connect();
      for (Connection connection : connections.values()) {
        await(() -> isBusy(connection));
      }
      attacked = connections.values();
      attack.run();
      connections.values().forEach(connection -> connection.close(Duration.ZERO));
      for (int line = 0; line < connections.size(); line++) {
        said.add(victim.line()); // each of them has ended
      }
      assertVictimLives();
      said.add(victim.line());
    }
    assertThat(said).allMatch(line -> line.contains(" ended by ") || line.contains("wrong is"));
  }

  private static boolean isBusy(Connection connection) {
    ConnectionCounters counters = connection.counters();
    return counters.messagesReceived() + counters.messagesSent() > 0
        || connection.failure() != null;
  }

  /** An action of a hostile peer. */
  private interface Attack {
    void run() throws Exception;
  }

  @Test
  void noiseInTheHeaderRingHarmsNoOtherProcess() throws Exception {
    attack(() -> scribble(ConnectionMemory::ring));
  }

  @Test
  void noiseInThePayloadHarmsNoOtherProcess() throws Exception {
    attack(() -> scribble(ConnectionMemory::buffer));
  }

  @Test
  void noiseInTheAreasOfRemoteMemoryAccessHarmsNoOtherProcess() throws Exception {
    attack(() -> {
      scribble(ConnectionMemory::rma);
      scribble(ConnectionMemory::rmaBuffer);
    });
  }

  @Test
  void noiseInTheFifoAndTheSocketHarmsNoOtherProcess() throws Exception {
    attack(() -> {
      fillFifos();
      sendDatagrams();
    });
  }
}
