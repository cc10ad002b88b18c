// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import dev.ferrule.lab.compare.match.Entrant;
import dev.ferrule.lab.compare.match.JavaEntrant;
import dev.ferrule.lab.compare.match.Measure;
import dev.ferrule.lab.compare.match.PerftestEntrant;
import dev.ferrule.lab.compare.match.UcxEntrant;
import dev.ferrule.lab.compare.transport.Contenders;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** A transport of Ferrule, and what it is compared with. */
enum Field {
  /** Shared memory, compared with other messaging between processes of one host. */
  SM {
    @Override
    List<Entrant> entrants() {
      return Stream.concat(
              Contenders.all().stream().<Entrant>map(JavaEntrant::new), Stream.of(new UcxEntrant()))
          .toList();
    }
  },

  /** SEND and RECV, compared with perftest's. */
  SENDRECV {
    @Override
    List<Entrant> entrants() {
      return List.of(overRdma(), new PerftestEntrant("ib_send"));
    }
  },

  /** Writes into a ring, compared with perftest's bare writes. */
  MAGICRING {
    @Override
    List<Entrant> entrants() {
      return List.of(overRdma(), new PerftestEntrant("ib_write"));
    }
  };

  /** Returns the competitors, in the order of measurement. */
  abstract List<Entrant> entrants();

  /** Returns the name of Ferrule's competitor. */
  String ours() {
    return toString();
  }

  /** Returns the measures that Ferrule and at least one other competitor support. */
  List<Measure> measures() {
    return Arrays.stream(Measure.values())
        .filter(measure -> entrants().stream().filter(one -> one.takesPart(measure)).count() > 1)
        .toList();
  }

  Entrant overRdma() {
    return new JavaEntrant(Contenders.overRdma(ours()));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT); // as picocli shows it
  }
}
