// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.*;

// Receives updates, 1000 by default, and counts those that it has missed.

void main(String[] args) {
  try {
    String address = args.length > 0 ? args[0] : "sm:///dev/shm/publish";
    subscribe(URI.create(address), args.length > 1 ? Long.parseLong(args[1]) : 1000);
  } catch (IllegalArgumentException | FerruleException e) { // a wrong argument; no publisher
    System.err.println(e.getMessage());
    System.exit(1);
  }
}

void subscribe(URI address, long count) {
  long missed = 0;
  try (Connection publisher = Ferrule.connect(address)) {
    long last = 0;
    for (long received = 0; received < count; received++) {
      try (ReceiveRegion update = publisher.receiver().receive(Duration.ofSeconds(10))) {
        long number = update.segment().get(ValueLayout.JAVA_LONG, 0);
        if (received == 0) {
          IO.println("the first update is number " + number);
        } else {
          missed += number - last - 1;
        }
        last = number;
      }
    }
  }
  IO.println("received " + count + " updates, missed " + missed);
}
