// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.*;

// Waits for some traders, two by default, and sends each of them the same updates of an order book.
// A trader must not miss an update. One that has no space for 100 ms, or the time in the third
// argument, is disconnected, so that it delays the others for that time only.

final int UPDATES = 100_000;
final long INTERVAL_NANOS = 10_000;
final int LEVELS = 100; // prices on each side

void main(String[] args) {
  try {
    String address = args.length > 0 ? args[0] : "sm:///dev/shm/order-book";
    int count = args.length > 1 ? Integer.parseInt(args[1]) : 2;
    Duration patience = Duration.ofMillis(args.length > 2 ? Long.parseLong(args[2]) : 100);
    run(URI.create(address), count, patience);
  } catch (IllegalArgumentException | FerruleException e) { // such as a wrong argument
    System.err.println(e.getMessage());
    System.exit(1);
  }
}

void run(URI address, int count, Duration patience) {
  try (Listener listener = Ferrule.listen(address)) {
    IO.println("listening at " + listener.uri());
    List<Connection> traders = new ArrayList<>();
    while (traders.size() < count) {
      traders.add(listener.accept());
    }
    publish(traders, patience);
    // A close delivers the messages that were sent; then the traders get an EndOfStreamException.
    traders.forEach(Connection::close);
    IO.println("sent " + UPDATES + " updates to " + traders.size() + " traders");
  }
}

void publish(List<Connection> traders, Duration patience) {
  Random random = new Random(1); // in the place of orders
  long start = System.nanoTime();
  for (int i = 0; i < UPDATES && !traders.isEmpty(); i++) {
    int side = random.nextInt(2);
    int level = random.nextInt(LEVELS);
    long quantity = random.nextInt(3) * 100; // 0 removes the level
    long due = start + i * INTERVAL_NANOS;
    while (System.nanoTime() < due) {
      Thread.onSpinWait();
    }
    // The time at which the update was due, so that the latency includes a delay of this program.
    traders.removeIf(trader -> !send(trader, patience, due, side, level, quantity));
  }
}

boolean send(Connection trader, Duration patience, long due, int side, int level, long quantity) {
  try (SendRegion update = trader.sender().claim(24, patience)) {
    MemorySegment fields = update.segment();
    fields.set(ValueLayout.JAVA_LONG, 0, due);
    fields.set(ValueLayout.JAVA_INT, 8, side);
    fields.set(ValueLayout.JAVA_INT, 12, level);
    fields.set(ValueLayout.JAVA_LONG, 16, quantity);
    update.commit();
    return true;
  } catch (FerruleException e) { // it is too slow, has closed, has died, or has a fault
    IO.println("a trader is disconnected: " + e.getMessage());
    trader.close(Duration.ZERO); // without waiting until it has received what was sent
    return false;
  }
}
