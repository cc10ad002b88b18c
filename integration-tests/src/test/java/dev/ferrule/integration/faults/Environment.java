// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import java.util.List;
import java.util.Random;

/** Two hosts that can reach each other by one provider: a client, 0, and a server, 1. */
interface Environment extends AutoCloseable {

  /**
   * A kind of connection.
   *
   * @param options the query of the URI, for both sides
   * @param longest the length of the longest message
   * @param inFlight how many messages of that length always have room, sent or held
   */
  record Variant(String options, int longest, int inFlight) {}

  List<Variant> variants();

  /** Returns the server's address, without a query. */
  String listenAddress();

  /** Returns whether the room of a freed message is available at once, and not after a delay. */
  boolean returnsRoomAtOnce();

  /** Returns the address to connect to. */
  String connectAddress(String listening);

  Host host(int side);

  /**
   * Ends a host without closing its connections, and replaces it; returns false if that is
   * impossible.
   */
  boolean replace(int side);

  /** Injects a fault that may end connections at any time; returns false if there is none. */
  boolean disturb(Random random);

  /** Removes the faults that {@link #disturb} has injected. */
  void calm();

  /** Checks that no resource is left after the programs have closed everything. */
  void expectNothingLeft();

  @Override
  void close();
}
