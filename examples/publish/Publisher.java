// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.*;

// Sends numbered updates to all subscribers until Ctrl-C. It never waits for a subscriber: one that
// has no space for an update misses it, and detects that by the numbers.

final List<Connection> subscribers = new CopyOnWriteArrayList<>();
final Set<Connection> slow = new HashSet<>();

void main(String[] args) throws InterruptedException {
  String address = args.length > 0 ? args[0] : "sm:///dev/shm/publish";
  try (Listener listener = Ferrule.listen(URI.create(address))) {
    IO.println("listening at " + listener.uri());
    Thread.startVirtualThread(() -> acceptAll(listener));
    MemorySegment update = Arena.global().allocate(Long.BYTES, Long.BYTES);
    for (long number = 1; ; number++) {
      update.set(ValueLayout.JAVA_LONG, 0, number);
      for (Connection subscriber : subscribers) {
        publish(subscriber, update);
      }
      Thread.sleep(1); // in the place of a source of updates
    }
  } catch (IllegalArgumentException | FerruleException e) { // such as a wrong address
    System.err.println(e.getMessage());
    System.exit(1);
  }
}

// In a thread of its own, so that a client that connects slowly does not delay updates.
void acceptAll(Listener listener) {
  while (true) {
    try {
      Connection subscriber = listener.accept();
      IO.println("a subscriber has joined");
      subscribers.add(subscriber);
    } catch (ResourceExhaustedException e) { // clients can cause this
      IO.println("a subscriber was refused: " + e.getMessage());
    } catch (ConnectionClosedException e) {
      return; // the listener is closed
    }
  }
}

void publish(Connection subscriber, MemorySegment update) {
  try {
    if (subscriber.sender().trySend(update) == 0 && slow.add(subscriber)) {
      IO.println("a subscriber is slow and misses updates");
    }
  } catch (FerruleException e) { // it has closed, has died, or has a fault
    IO.println("a subscriber has left: " + e.getMessage());
    subscribers.remove(subscriber);
    slow.remove(subscriber);
    subscriber.close(); // releases its memory
  }
}
