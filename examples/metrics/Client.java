// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.*;

// Sends a message each 10 ms, which the server sends back, until Ctrl-C.

void main(String[] args) throws InterruptedException {
  String address = args.length > 0 ? args[0] : "sm:///dev/shm/metrics";
  try (Connection server = Ferrule.connect(URI.create(address))) {
    IO.println("connected to " + server.uri());
    for (int number = 1; ; number++) {
      server.sender().send(MemorySegment.ofArray(("message " + number).getBytes()));
      try (ReceiveRegion echo = server.receiver().receive()) {
        IO.println(new String(echo.segment().toArray(ValueLayout.JAVA_BYTE)));
      }
      Thread.sleep(10);
    }
  } catch (IllegalArgumentException | FerruleException e) { // a wrong address; the server has ended
    System.err.println(e.getMessage());
    System.exit(1);
  }
}
