// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.WaitStrategy;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The server side of a connection in one direction, by a thread of its own: times the calls that
 * receive and free messages. Waiting is not included: only the call that returns the message
 * counts.
 */
final class OneWaySession {

  /** The number of reports that a client may collect: one for each size. */
  private static final int MAX_REPORTS = 64;

  private final Receiver receiver;
  private final boolean spin;
  private final ServerLimits limits;

  /**
   * Creates the server side of a connection.
   *
   * @param connection the connection
   * @param waitStrategy how the connection waits
   * @param limits limits the client's requests
   */
  OneWaySession(Connection connection, WaitStrategy waitStrategy, ServerLimits limits) {
    this.receiver = connection.receiver();
    this.spin = waitStrategy == WaitStrategy.SPIN;
    this.limits = limits;
  }

  /**
   * Receives, in the calling thread, until the client has closed the connection.
   *
   * @return the reports of the rounds that were timed
   */
  List<OneWayReport> run() {
    List<OneWayReport> reports = new ArrayList<>();
    Round round = nextRound();
    while (round != null) {
      limits.check(round);
      switch (round.kind()) {
        case CALLS_WARMUP -> receive(round);
        case CALLS -> reports.add(receive(round));
        default -> throw new IllegalArgumentException("a round that needs an answer: " + round);
      }
      if (reports.size() > MAX_REPORTS) {
        throw new IllegalArgumentException("more than " + MAX_REPORTS + " rounds");
      }
      round = nextRound();
    }
    return reports;
  }

  private @Nullable Round nextRound() {
    try (ReceiveRegion message = receiver.receive()) {
      return Round.read(message);
    } catch (ConnectionClosedException e) {
      return null; // between two rounds this is a regular end
    }
  }

  private OneWayReport receive(Round round) {
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
          patience.lookedInVain();
          if (!spin) {
            Thread.yield(); // the client may need this processor
          }
          before = System.nanoTime();
          message = receiver.tryReceive();
          after = System.nanoTime();
        }
        patience.messageCame();
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
}
