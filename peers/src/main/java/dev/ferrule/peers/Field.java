// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

import dev.ferrule.peers.match.Entrant;
import dev.ferrule.peers.match.JavaEntrant;
import dev.ferrule.peers.transport.Contenders;
import java.util.List;
import java.util.Locale;

/** Which of Ferrule's transports is compared, and to whom. */
enum Field {
  /** Shared memory. */
  SM {
    @Override
    List<Entrant> entrants() {
      return Contenders.all().stream().<Entrant>map(JavaEntrant::new).toList();
    }
  };

  /** Returns who takes part, in the order of the turns. */
  abstract List<Entrant> entrants();

  /** Returns the name of Ferrule's entrant. */
  String ours() {
    return toString();
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT); // as picocli shows it
  }
}
