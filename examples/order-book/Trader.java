// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.*;
import org.HdrHistogram.Histogram;

// Keeps an order book by the updates of the exchange, and measures the latency of each. The clocks
// of two processes are the same on one host only.

final long[][] quantities = new long[2][100]; // of bids and asks, by level
final Histogram latencies = new Histogram(3); // in nanoseconds, to three digits

void main(String[] args) {
  String address = args.length > 0 ? args[0] : "sm:///dev/shm/order-book";
  try (Connection exchange = Ferrule.connect(URI.create(address))) {
    IO.println("connected to " + exchange.uri());
    try {
      while (true) {
        // Passes each message in place, without an object for it, and waits if there is none.
        exchange.receiver().poll(this::update, 64, Duration.ofSeconds(60));
      }
    } catch (EndOfStreamException e) { // all updates were received
      report();
    }
  } catch (IllegalArgumentException
      | FerruleException e) { // a wrong address; the exchange has died
    System.err.println(e.getMessage());
    System.exit(1);
  } catch (IndexOutOfBoundsException e) {
    System.err.println("the exchange has sent an invalid update: " + e.getMessage());
    System.exit(1);
  }
}

void update(MemorySegment buffer, long offset, int length) {
  Objects.checkFromIndexSize(0, 24, length);
  long due = buffer.get(ValueLayout.JAVA_LONG, offset);
  int side = buffer.get(ValueLayout.JAVA_INT, offset + 8);
  int level = buffer.get(ValueLayout.JAVA_INT, offset + 12);
  quantities[side][level] = buffer.get(ValueLayout.JAVA_LONG, offset + 16);
  latencies.recordValue(Math.max(0, System.nanoTime() - due));
}

void report() {
  IO.println("the book has the checksum " + Arrays.deepHashCode(quantities));
  IO.println(latencies.getTotalCount() + " updates; latency in µs:");
  for (double percentile : new double[] {50, 90, 99, 99.9, 100}) {
    double micros = latencies.getValueAtPercentile(percentile) / 1000.0;
    IO.println(String.format(Locale.ROOT, "%5.1f %%  %10.2f", percentile, micros));
  }
}
