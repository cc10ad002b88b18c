// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import dev.ferrule.lab.compare.competitor.Competitor;
import dev.ferrule.lab.compare.competitor.JvmCompetitor;
import dev.ferrule.lab.compare.competitor.Measure;
import dev.ferrule.lab.compare.competitor.PerftestCompetitor;
import dev.ferrule.lab.compare.competitor.UcxCompetitor;
import dev.ferrule.lab.compare.transport.Transport;
import dev.ferrule.lab.compare.transport.TransportsUnderTest;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** A transport of Ferrule, and its competitors. */
enum ComparedProvider {
  /** Shared memory, compared with other messaging between processes of one host. */
  SM {
    @Override
    List<Competitor> competitors() {
      return Stream.concat(
              TransportsUnderTest.all().stream().<Competitor>map(JvmCompetitor::new),
              Stream.of(new UcxCompetitor()))
          .toList();
    }

    @Override
    int longestBytes() {
      return Transport.LONGEST;
    }
  },

  /** SEND and RECV, compared with perftest's. */
  SENDRECV {
    @Override
    List<Competitor> competitors() {
      return List.of(overRdma(), new PerftestCompetitor("ib_send"));
    }
  },

  /**
   * Writes into a ring, compared with perftest's bare writes, with immediate data if it has them.
   */
  MAGICRING {
    @Override
    List<Competitor> competitors() {
      return List.of(overRdma(), new PerftestCompetitor("ib_write"));
    }
  };

  /** Returns the competitors, in the order of measurement. */
  abstract List<Competitor> competitors();

  /** Returns the longest message that all competitors support. */
  int longestBytes() {
    return Transport.LONGEST_OVER_RDMA;
  }

  String ours() {
    return toString();
  }

  /** Returns the measures that Ferrule and at least one other competitor support. */
  List<Measure> measures() {
    return Arrays.stream(Measure.values())
        .filter(measure -> competitors().stream().filter(one -> one.takesPart(measure)).count() > 1)
        .toList();
  }

  Competitor overRdma() {
    return new JvmCompetitor(TransportsUnderTest.overRdma(ours()));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT); // as picocli shows it
  }
}
