// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.messages;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteMemory;
import dev.ferrule.Rma;
import dev.ferrule.RmaRight;
import dev.ferrule.rdma.simulation.SimulatedFabric;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.VerbsLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The listeners and connections that one row uses, of real providers. They are closed at its end.
 * RDMA uses a simulated device.
 */
final class Fixture implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** The parts to close, the last one first. */
  private final Deque<AutoCloseable> parts = new ConcurrentLinkedDeque<>();

  private final Path directory;
  private final @Nullable SimulatedFabric fabric;
  private final @Nullable ConnectionProvider simulated;
  private final Arena arena = Arena.ofShared();

  private Fixture(
      Path directory,
      @Nullable SimulatedFabric fabric,
      @Nullable Function<VerbsLibrary, ConnectionProvider> provider) {
    this.directory = directory;
    this.fabric = fabric;
    this.simulated = provider == null || fabric == null ? null : provider.apply(fabric.library());
    keep(arena);
    if (fabric != null) {
      keep(fabric);
    }
  }

  static Fixture ofSm(Path directory) {
    return new Fixture(directory, null, null);
  }

  static Fixture ofRdma(Path directory, Function<VerbsLibrary, ConnectionProvider> provider) {
    return new Fixture(directory, new SimulatedFabric(1), provider);
  }

  /** Both sides of a connection. */
  record Pair(Connection client, Connection server) {}

  /** An access: the client's memory, and the memory that the server exposes. */
  record Access(Rma rma, RegisteredMemory local, RemoteMemory remote) {}

  Path directory() {
    return directory;
  }

  SimulatedFabric fabric() {
    if (fabric == null) {
      throw new IllegalStateException("sm has no device");
    }
    return fabric;
  }

  /** Returns a part, after adding it to those that are closed at the end of the row. */
  <T extends AutoCloseable> T keep(T part) {
    parts.push(part);
    return part;
  }

  MemorySegment memory(long size) {
    return arena.allocate(size, Long.BYTES);
  }

  /** Returns the address to listen on. */
  String address() {
    return simulated == null ? "sm://" + directory : simulated.scheme() + "://127.0.0.1:0";
  }

  Listener listen(String query) {
    return listenOn(address() + query);
  }

  Listener listenOn(String address) {
    URI uri = URI.create(address);
    ConnectionOptions options = ConnectionOptions.defaults();
    return keep(simulated == null ? Ferrule.listen(uri, options) : simulated.listen(uri, options));
  }

  Connection connect(String address) {
    return connect(address, ConnectionOptions.defaults());
  }

  Connection connect(String address, ConnectionOptions options) {
    URI uri = URI.create(address);
    return keep(
        simulated == null ? Ferrule.connect(uri, options) : simulated.connect(uri, options));
  }

  /** Connects in another thread. */
  CompletableFuture<Connection> connecting(String address) {
    return CompletableFuture.supplyAsync(
        () -> connect(address), task -> Thread.ofPlatform().daemon().name("client").start(task));
  }

  /** Accepts a client in another thread, which ends with the listener. */
  void accepting(Listener listener) {
    Thread.ofPlatform()
        .daemon()
        .name("server")
        .start(() -> {
          try {
            listener.accept().close();
          } catch (ConnectionClosedException e) {
            // at the end of the row
          }
        });
  }

  /** Returns a new connection; both sides have the same options. */
  Pair pair(String query) {
    Listener listener = listen(query);
    CompletableFuture<Connection> connecting = connecting(listener.uri() + query);
    Connection server = keep(listener.accept(PATIENCE));
    return new Pair(connecting.join(), server);
  }

  /** Returns a new connection, and the client's access to 64 bytes of the server. */
  Access access(RmaRight... rights) {
    Pair pair = pair("");
    Rma rma = pair.client.rma();
    return new Access(
        rma,
        pair.client.register(memory(128)),
        rma.attach(pair.server.rma().expose(memory(64), rights).handle()));
  }

  /** Replaces what differs from run to run: the directory, process ids, ports and numbers. */
  String readable(Throwable failure) {
    return (failure.getClass().getSimpleName() + ": " + failure.getMessage())
        .replace(directory.toString(), "/DIR")
        .replaceAll("/DIR/\\d+/\\d+", "/DIR/PID/ID")
        .replaceAll("of process \\d+", "of process PID")
        .replaceAll("127\\.0\\.0\\.1:\\d+", "127.0.0.1:PORT")
        .replaceAll("#\\d+", "#N")
        .replaceAll("valid options: [\\w, ]+", "valid options: NAMES")
        .replaceAll("Permission denied \\(errno 13\\)", "Operation not permitted (errno 1)")
        .replaceAll("Read-only file system \\(errno 30\\)", "Operation not permitted (errno 1)");
  }

  @Override
  public void close() {
    AssertionError failed = new AssertionError("the parts cannot be closed");
    for (AutoCloseable part : parts) {
      try {
        part.close();
      } catch (Exception e) {
        failed.addSuppressed(e);
      }
    }
    if (failed.getSuppressed().length > 0) {
      throw failed;
    }
  }
}
