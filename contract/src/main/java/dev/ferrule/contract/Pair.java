// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import dev.ferrule.Connection;

/** The two ends of one connection. */
record Pair(Connection client, Connection server) {

  /** Returns the same connection as seen from the other end. */
  Pair reversed() {
    return new Pair(server, client);
  }
}
