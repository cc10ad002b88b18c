// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionState;
import dev.ferrule.ExposedMemory;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The server's side of one connection: plays its part in one round after the other until the client
 * closes.
 */
final class Session implements AutoCloseable {

  private final Connection connection;
  private final Receiver receiver;
  private final boolean spin;
  private @Nullable CacheLine floor;
  private @Nullable ExposedMemory exposed; // ends with the connection

  /**
   * Creates the server's side of a connection.
   *
   * @param connection the connection
   * @param receiver where the messages of this connection arrive, and of no other
   * @param waitStrategy how the connection waits
   */
  Session(Connection connection, Receiver receiver, WaitStrategy waitStrategy) {
    this.connection = connection;
    this.receiver = receiver;
    this.spin = waitStrategy == WaitStrategy.SPIN;
  }

  /** Plays rounds, in the calling thread. Returns when the client has closed the connection. */
  void run() {
    while (true) {
      Round round;
      try {
        round = nextRound();
      } catch (ConnectionClosedException e) {
        return; // between two rounds that is how a client ends
      }
      play(round);
    }
  }

  private Round nextRound() {
    try (ReceiveRegion message = receiver.receive()) {
      return Round.read(message);
    }
  }

  private void play(Round round) {
    switch (round.kind()) {
      case ECHO -> echo(round);
      case SINK -> sink(round);
      case OPEN_FLOOR ->
          new RoundReply(openFloor(Path.of(round.path())), 0, 0, 0).send(connection.sender());
      case FLOOR ->
          Objects.requireNonNull(floor, "a floor round before its file was opened")
              .answer(round.count());
      case EXPOSE -> expose(round.size());
    }
  }

  private void expose(int size) {
    if (exposed != null) {
      exposed.close();
    }
    exposed = Exposure.send(connection, size);
  }

  private void echo(Round round) {
    Echo echo = new Echo(connection.sender(), receiver);
    if (spin) {
      echo.spin(round.count());
    } else {
      echo.await(round.count());
    }
  }

  private void sink(Round round) {
    try (Arena arena = Arena.ofConfined()) {
      Sink sink = new Sink(new MessageContent(arena, round.size()), round.verify());
      RoundReply reply =
          spin ? sink.spin(receiver, round.count()) : sink.await(receiver, round.count());
      reply.send(connection.sender());
    }
  }

  /** Maps the client's file; false if it is not there, as on another host. */
  private boolean openFloor(Path file) {
    close();
    try {
      floor = new CacheLine(file, () -> requireOpen(connection));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Throws if the connection is not open any more. */
  static void requireOpen(Connection connection) {
    if (connection.state() != ConnectionState.OPEN) {
      RuntimeException failure = connection.failure();
      throw failure != null
          ? failure
          : new ToolException(
              ExitCode.CONNECTION_LOST,
              connection.uri() + ": closed in the middle of a measurement");
    }
  }

  @Override
  public void close() {
    if (floor != null) {
      floor.close();
      floor = null;
    }
  }
}
