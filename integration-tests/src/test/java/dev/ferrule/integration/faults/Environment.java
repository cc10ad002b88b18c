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
   * @param inFlight how many of these have room in any case, sent or held
   */
  record Variant(String options, int longest, int inFlight) {}

  List<Variant> variants();

  /** Returns the server's address, without a query. */
  String listenAddress();

  /** Returns whether the room of a freed message is there at once, and not some time later. */
  boolean returnsRoomAtOnce();

  /** Returns the address to connect to. */
  String connectAddress(String listening);

  Host host(int side);

  /** Ends a host without a goodbye, and replaces it by a new one; false if that is impossible. */
  boolean replace(int side);

  /** Lets something fail that may end connections at any time; false if there is no such thing. */
  boolean disturb(Random random);

  /** Ends what {@link #disturb} has begun. */
  void calm();

  /** Checks that the programs, which have closed everything, have left nothing. */
  void expectNothingLeft();

  @Override
  void close();
}
