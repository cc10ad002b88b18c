// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.*;

// Replies to each request, two numbers, with the first one and the square of the second.

void main(String[] args) {
  String address = args.length > 0 ? args[0] : "sm:///dev/shm/virtual-threads";
  // With short messages each sender of a client takes 1 MiB of memory instead of 5.
  ConnectionOptions options =
      ConnectionOptions.builder().set(StandardOptions.MAX_MESSAGE, 64L).build();
  try (Listener listener = Ferrule.listen(URI.create(address), options)) {
    IO.println("listening at " + listener.uri());
    while (true) {
      try {
        Connection client = listener.accept();
        Thread.startVirtualThread(() -> serve(client));
      } catch (ResourceExhaustedException e) { // clients can cause this, so the server continues
        IO.println("a client was refused: " + e.getMessage());
      }
    }
  } catch (IllegalArgumentException | FerruleException e) { // such as a wrong address
    System.err.println(e.getMessage());
    System.exit(1);
  }
}

void serve(Connection client) {
  try (client) {
    while (true) {
      // One receiver gets the messages of all senders of the client.
      try (ReceiveRegion request = client.receiver().receive();
          SendRegion reply = client.sender().claim(2 * Long.BYTES)) {
        long number = request.segment().get(ValueLayout.JAVA_LONG, Long.BYTES);
        MemorySegment.copy(request.segment(), 0, reply.segment(), 0, Long.BYTES);
        reply.segment().set(ValueLayout.JAVA_LONG, Long.BYTES, number * number);
        reply.commit();
      }
    }
  } catch (EndOfStreamException e) {
    IO.println("a client has closed");
  } catch (FerruleException e) { // it has died, has closed during a reply, or has a fault
    IO.println("a client was lost: " + e.getMessage());
  } catch (IndexOutOfBoundsException e) {
    IO.println("a client has sent less than two numbers");
  }
}
