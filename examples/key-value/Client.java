// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.*;

// Sends each line of its input, "put KEY VALUE" or "get KEY", and prints the reply.

void main(String[] args) {
  String address = args.length > 0 ? args[0] : "sm:///dev/shm/key-value";
  try (Connection server = Ferrule.connect(URI.create(address))) {
    IO.println("connected to " + server.uri());
    for (String line = IO.readln(); line != null; line = IO.readln()) {
      IO.println(ask(server, line));
    }
  } catch (EndOfStreamException | ConnectionClosedException e) {
    // The server has stopped before it has replied, and has stored the value or not.
    System.err.println("the server has stopped");
    System.exit(1);
  } catch (IllegalArgumentException | FerruleException e) { // a wrong address; the server has died
    System.err.println(e.getMessage());
    System.exit(1);
  }
}

String ask(Connection server, String request) {
  try {
    server.sender().send(MemorySegment.ofArray(request.getBytes()));
  } catch (MessageTooLongException e) {
    return e.getMessage(); // nothing was sent, and the connection remains usable
  }
  // A time limit, because a server that is stopped is detected late, and over RDMA never.
  try (ReceiveRegion reply = server.receiver().receive(Duration.ofSeconds(30))) {
    return new String(reply.segment().toArray(ValueLayout.JAVA_BYTE));
  }
}
