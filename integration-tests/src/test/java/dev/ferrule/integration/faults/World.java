// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import java.util.List;

/** Two hosts that can reach each other by one provider: a client, 0, and a server, 1. */
interface World extends AutoCloseable {

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
  String address();

  Host host(int side);

  /** Ends a host without a goodbye, and replaces it by a new one. */
  void replace(int side);

  @Override
  void close();
}
