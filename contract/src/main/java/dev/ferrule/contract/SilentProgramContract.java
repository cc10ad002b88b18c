// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A program that sends nothing. The provider's reports to the peer must not depend on messages of
 * the program, or one of the two programs waits forever.
 */
public abstract class SilentProgramContract extends Contract {

  private static final int ROUNDS = 10;
  private static final int MOST_CLAIMS = 128;
  private static final int RECEIVED_PER_ROUND = 100;

  /**
   * The time for which such a program continues, in nanoseconds, in addition to a number of rounds.
   */
  public static final long SOAK_NANOS =
      TimeUnit.SECONDS.toNanos(Long.getLong("ferrule.soak.silentSeconds", 0));

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected SilentProgramContract(ProviderUnderTest provider) {
    super(provider);
  }

  @ParameterizedTest(name = "claims: {0}, receives: {1}, client: {2}, sent before: {3}")
  @CsvSource({
    "true, false, true, 400",
    "true, false, false, 400",
    "false, true, true, 400",
    "false, true, false, 400",
    "true, true, true, 400",
    "true, true, false, 400",
    "true, true, true, 0",
    "true, true, false, 0"
  })
  void aProgramThatSendsNothingNeverWaitsForever(
      boolean claims, boolean receives, boolean client, int sentBefore) {
    Pair pair = connect();
    Connection silent = client ? pair.client() : pair.server();
    Connection peer = client ? pair.server() : pair.client();
    int most = claim(silent.sender(), MOST_CLAIMS, false);
    Background<Boolean> peersProgram =
        inBackground("peer", () -> receiveAndSend(peer, sentBefore, receives));
    MemorySegment message = Arena.ofAuto().allocate(200);
    for (int i = 0; i < sentBefore; i++) {
      silent.sender().send(message);
    }

    long start = System.nanoTime();
    for (int round = 0; round < ROUNDS || System.nanoTime() - start < SOAK_NANOS; round++) {
      if (claims) {
        claim(silent.sender(), most, true);
      }
      for (int i = 0; receives && i < RECEIVED_PER_ROUND; i++) {
        silent.receiver().receive(PATIENCE).close();
      }
    }
    silent.close();
    peersProgram.result();
  }

  /** Claims regions and aborts them; returns their number. */
  private static int claim(Sender sender, int count, boolean waits) {
    List<SendRegion> regions = new ArrayList<>();
    while (regions.size() < count) {
      SendRegion region = waits ? sender.claim(8, PATIENCE) : sender.tryClaim(8);
      if (region == null) {
        break;
      }
      regions.add(region);
    }
    regions.forEach(SendRegion::abort);
    return regions.size();
  }

  /**
   * Receives the messages that the other side sends first; then, if {@code sends}, sends until the
   * other side closes.
   */
  private static void receiveAndSend(Connection connection, int receivedBefore, boolean sends) {
    for (int i = 0; i < receivedBefore; i++) {
      connection.receiver().receive(PATIENCE).close();
    }
    MemorySegment message = Arena.ofAuto().allocate(200);
    try {
      while (sends) {
        connection.sender().send(message);
      }
    } catch (ConnectionClosedException e) {
      // at the end
    }
  }
}
