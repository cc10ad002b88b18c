// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.ConnectionCounters;
import dev.ferrule.spi.ConnectionSample;
import java.net.URI;
import java.util.Comparator;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * What one side of a connection does per second, from two samples.
 *
 * @param endpoint the address of the endpoint
 * @param now the later sample
 * @param before the earlier one; null if the connection is new
 */
record ConnectionRates(URI endpoint, ConnectionSample now, @Nullable ConnectionSample before) {

  private static final double NANOS = 1e9;

  /** The busiest connections first. */
  static final Comparator<ConnectionRates> BUSIEST =
      Comparator.comparingDouble(ConnectionRates::bytes)
          .thenComparingDouble(ConnectionRates::messages)
          .reversed()
          .thenComparing(ConnectionRates::name);

  /** Returns the part of the address that names the endpoint in its directory, and the number. */
  String name() {
    String[] parts = endpoint.getPath().split("/");
    return parts[parts.length - 2] + "/" + parts[parts.length - 1] + "#" + now.number();
  }

  /** Returns whether there are rates. */
  boolean isKnown() {
    return before != null && now.nanos() > before.nanos();
  }

  /** Returns by how much a counter grows per second; 0 if that is not known. */
  double of(ToLongFunction<ConnectionCounters> counter) {
    if (before == null || now.nanos() <= before.nanos()) {
      return 0;
    }
    long count = counter.applyAsLong(now.counters()) - counter.applyAsLong(before.counters());
    return Math.max(0, count) * NANOS / (now.nanos() - before.nanos());
  }

  double bytes() {
    return of(ConnectionCounters::bytesSent) + of(ConnectionCounters::bytesReceived);
  }

  double messages() {
    return of(ConnectionCounters::messagesSent) + of(ConnectionCounters::messagesReceived);
  }

  double wakeupsSent() {
    return of(counters -> counters.wakeupsSent().orElse(0));
  }
}
