// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.*;

// Sends some requests and prints the replies. It may be started before the server.

void main(String[] args) throws InterruptedException {
  String address = args.length > 0 ? args[0] : "sm:///dev/shm/request-reply";
  try (Connection server = connect(URI.create(address))) {
    IO.println("connected to " + server.uri());
    long number = 0;
    for (String text : List.of("one", "two", "three")) {
      IO.println(text + " -> " + ask(server, ++number, text));
    }
  } catch (IllegalArgumentException | FerruleException e) { // a wrong address; the server has ended
    System.err.println(e.getMessage());
    System.exit(1);
  }
}

String ask(Connection server, long number, String text) {
  byte[] bytes = text.getBytes();
  try (SendRegion request = server.sender().claim(Long.BYTES + bytes.length)) {
    request.segment().set(ValueLayout.JAVA_LONG, 0, number);
    MemorySegment.copy(
        bytes, 0, request.segment(), ValueLayout.JAVA_BYTE, Long.BYTES, bytes.length);
    request.commit();
  }
  // A time limit, because a server that is stopped is detected late, and over RDMA never.
  try (ReceiveRegion reply = server.receiver().receive(Duration.ofSeconds(30))) {
    // With the number, a client that continues after a timeout can detect a late reply.
    if (reply.segment().get(ValueLayout.JAVA_LONG, 0) != number) {
      throw new IllegalArgumentException("the reply is to another request");
    }
    return new String(reply.segment().asSlice(Long.BYTES).toArray(ValueLayout.JAVA_BYTE));
  }
}

Connection connect(URI address) throws InterruptedException {
  long start = System.nanoTime();
  while (true) {
    try {
      return Ferrule.connect(address);
    } catch (ConnectionRefusedException e) {
      if (System.nanoTime() - start > 60_000_000_000L) {
        throw e;
      }
      Thread.sleep(100); // the server has not started yet
    }
  }
}
