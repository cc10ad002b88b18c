// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionState;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.WaitStrategy;
import dev.ferrule.posix.PosixException;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The server side of one connection, in its own thread. Serves one round after another until the
 * client closes the connection.
 */
final class Session implements AutoCloseable {

  private static final RoundReply NO_FLOOR = new RoundReply(false, 0, 0, 0);

  /** The number of reports that a client may collect: one for each size. */
  private static final int MAX_REPORTS = 64;

  private final Connection connection;
  private final Receiver receiver;
  private final boolean oneWay;
  private final List<OneWayReport> reports = new ArrayList<>();
  private final boolean spin;
  private final ServerLimits limits;
  private final ServedMemory memory;
  private boolean floor; // counted by the limits
  private @Nullable CacheLine line;
  private @Nullable BareRing ring;
  private @Nullable Guarded<FloorFile> floorFile; // until the client has opened it

  /** Creates the server side of a connection. On a one-way connection, rounds have no reply. */
  Session(Connection connection, boolean oneWay, WaitStrategy waitStrategy, ServerLimits limits) {
    this.connection = connection;
    this.receiver = connection.receiver();
    this.oneWay = oneWay;
    this.limits = limits;
    this.memory = new ServedMemory(connection, limits);
    this.spin = waitStrategy == WaitStrategy.SPIN;
  }

  /**
   * Serves rounds, in the calling thread, until the client has closed the connection. Returns the
   * reports of the calls that were timed.
   */
  List<OneWayReport> run() {
    try {
      for (Round round = nextRound(); round != null; round = nextRound()) {
        limits.check(round);
        if (oneWay) {
          serveOneWay(round);
        } else {
          serve(round);
        }
      }
      return reports;
    } catch (RoundRefusedException e) { // the client receives the reason, and the session ends
      if (!oneWay) {
        Refusal.send(connection.sender(), e);
      }
      throw e;
    }
  }

  private @Nullable Round nextRound() {
    try (ReceiveRegion message = receiver.receive()) {
      return Round.read(message);
    } catch (EndOfStreamException | ConnectionClosedException e) {
      return null; // the connection may end regularly between two rounds
    }
  }

  private void serve(Round round) {
    removeFloorFile();
    switch (round.kind()) {
      case ECHO -> new Echo(connection.sender(), receiver, round).run(spin);
      case SINK -> sink(round);
      case OPEN_FLOOR -> openFloor().send(connection.sender());
      case FLOOR -> opened(line).answer(round.count(), limits.answerNanos());
      case EXPOSE, ALLOCATE -> memory.expose(round).send(connection.sender());
      case RING_ECHO -> opened(ring).echo(round.count(), round.size());
      case RING_SINK -> takeFromRing(round).send(connection.sender());
      case CALLS_WARMUP, CALLS ->
          throw new RoundRefusedException(
              "protocol violation: the client requested a one-way round on a connection in both"
                  + " directions");
    }
  }

  private void serveOneWay(Round round) {
    switch (round.kind()) {
      case CALLS_WARMUP -> timedCalls(round);
      case CALLS -> reports.add(timedCalls(round));
      default ->
          throw new RoundRefusedException(
              "protocol violation: the client requested a round with a reply on a one-way"
                  + " connection: "
                  + round);
    }
    if (reports.size() > MAX_REPORTS) {
      throw new RoundRefusedException(
          "the client requested more than " + MAX_REPORTS + " rounds, the limit of a connection");
    }
  }

  /** Times the calls of receive and free. Of receive, only calls that return a message count. */
  private OneWayReport timedCalls(Round round) {
    Histogram receive = LatencySummary.newHistogram();
    Histogram free = LatencySummary.newHistogram();
    long wrong = 0;
    Patience patience = new Patience(Patience.OF_ROUND);
    try (Arena arena = Arena.ofConfined()) {
      MessageContent expected = new MessageContent(arena, round.size());
      for (long i = 0; i < round.count(); i++) {
        long before = System.nanoTime();
        ReceiveRegion message = receiver.tryReceive();
        long after = System.nanoTime();
        while (message == null) {
          patience.onEmptyPoll();
          if (!spin) {
            Thread.yield(); // the client may run on this processor
          }
          before = System.nanoTime();
          message = receiver.tryReceive();
          after = System.nanoTime();
        }
        patience.onMessage();
        receive.recordValue(after - before);
        if (!expected.matches(message.buffer(), message.offset(), message.length(), i)) {
          wrong++;
        }
        before = System.nanoTime();
        receiver.free(message);
        free.recordValue(System.nanoTime() - before);
      }
    }
    return new OneWayReport(
        round.count(), wrong, LatencySummary.of(receive, 1), LatencySummary.of(free, 1));
  }

  private static <T> T opened(@Nullable T floor) {
    if (floor == null) {
      throw new RoundRefusedException(
          "protocol violation: the client requested a floor round, but opened no floor");
    }
    return floor;
  }

  private RoundReply takeFromRing(Round round) {
    long wrong = opened(ring).take(round.count(), round.size());
    return new RoundReply(true, round.count(), round.count() * round.size(), wrong);
  }

  private void sink(Round round) {
    try (Arena arena = Arena.ofConfined()) {
      Sink sink = new Sink(new MessageContent(arena, round.size()), round);
      sink.run(receiver, spin).send(connection.sender());
    }
  }

  /** Creates and maps a file for the floor, if the limits permit that. */
  private RoundReply openFloor() {
    closeFloor();
    if (!limits.openFloor()) {
      return NO_FLOOR;
    }
    floor = true;
    try {
      FloorFile file = FloorFile.create();
      floorFile = Guarded.of(file);
      line = new CacheLine(file.path(), () -> requireOpen(connection));
      ring = BareRing.ofServer(file.path(), limits.answerNanos(), () -> requireOpen(connection));
      return new RoundReply(true, file.number(), 0, 0);
    } catch (IOException | PosixException e) {
      removeFloorFile();
      closeFloor();
      return NO_FLOOR;
    }
  }

  /** Throws if the connection is closed. */
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
    removeFloorFile();
    closeFloor();
    memory.close();
  }

  private void closeFloor() {
    if (line != null) {
      line.close();
      line = null;
    }
    if (ring != null) {
      ring.close();
      ring = null;
    }
    if (floor) {
      floor = false;
      limits.closeFloor();
    }
  }

  private void removeFloorFile() {
    if (floorFile != null) {
      floorFile.close();
      floorFile = null;
    }
  }
}
