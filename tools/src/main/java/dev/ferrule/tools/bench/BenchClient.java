// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Connection;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.Rma;
import dev.ferrule.Sender;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The driving side of the measurements: a connection to a {@link BenchServer}. Belongs to one
 * thread at a time.
 */
public final class BenchClient implements AutoCloseable {

  private static final int PAGE_BYTES = 4096;

  private final Connection connection;
  private final WaitStrategy waitStrategy;
  private @Nullable Floor floor;

  /**
   * Creates a client.
   *
   * @param connection a connection to a server, which stays the caller's to close
   * @param waitStrategy how the connection waits
   */
  public BenchClient(Connection connection, WaitStrategy waitStrategy) {
    this.connection = connection;
    this.waitStrategy = waitStrategy;
  }

  Sender sender() {
    return connection.sender();
  }

  Receiver receiver() {
    return connection.receiver();
  }

  boolean spins() {
    return waitStrategy == WaitStrategy.SPIN;
  }

  void start(Round round) {
    round.send(connection.sender());
  }

  RoundReply awaitReply() {
    try (ReceiveRegion message = connection.receiver().receive()) {
      return RoundReply.read(message);
    }
  }

  Rma rma() {
    return connection.rma();
  }

  RegisteredMemory register(MemorySegment memory) {
    return connection.register(memory);
  }

  /** Has the server expose so much memory. */
  Exposure expose(int size) {
    start(Round.of(Round.Kind.EXPOSE, 0, size));
    try (ReceiveRegion message = connection.receiver().receive()) {
      return Exposure.read(message);
    }
  }

  ToolException corrupt(String what) {
    return new ToolException(
        ExitCode.CONNECTION_LOST,
        connection.uri() + ": " + what + "; the measurement is worthless and was ended");
  }

  /**
   * Shares a cache line with the server, to be bounced between the rounds.
   *
   * @return false if the server cannot map it, because it runs on another host
   */
  public boolean openFloor() {
    floor = shareLine().orElse(null);
    return floor != null;
  }

  /**
   * Shares a cache line with the server, for the caller to bounce while nothing else is measured,
   * and to close. A server knows one line for each connection.
   *
   * @return the line; empty if the server cannot map it, because it runs on another host
   */
  public Optional<Floor> shareLine() {
    try {
      Path file = Files.createTempFile(FreshAddress.sharedDirectory(), "ferrule-floor-", "");
      try {
        try (RandomAccessFile whole = new RandomAccessFile(file.toFile(), "rw")) {
          whole.setLength(PAGE_BYTES);
        }
        CacheLine line = new CacheLine(file, () -> Session.requireOpen(connection));
        if (isMappedByServer(file, line)) {
          return Optional.of(new Floor(this, line));
        }
        line.close();
        return Optional.empty();
      } finally {
        Files.delete(file); // both sides have it mapped
      }
    } catch (IOException e) {
      throw new ToolException(
          ExitCode.FAILED, "cannot make a file for the floor: " + e.getMessage(), e);
    }
  }

  private boolean isMappedByServer(Path file, CacheLine line) {
    try {
      start(new Round(Round.Kind.OPEN_FLOOR, 0, 0, false, file.toString()));
      return awaitReply().done();
    } catch (RuntimeException e) {
      line.close();
      throw e;
    }
  }

  /**
   * Ends the connection at once, from any thread, so that whoever waits on it does not any more.
   */
  void abort() {
    connection.close(Duration.ZERO);
  }

  /** Returns the floor; empty if none was opened. */
  Optional<Floor> floor() {
    return Optional.ofNullable(floor);
  }

  @Override
  public void close() {
    if (floor != null) {
      floor.close();
      floor = null;
    }
  }
}
