// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.*;

// Replies to each request, a number, with this number and the id of this process. To see a client
// connect again, kill this server and start another one.

void main(String[] args) {
  String address = args.length > 0 ? args[0] : "sm:///dev/shm/reconnect";
  try (Listener listener = Ferrule.listen(URI.create(address))) {
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
      try (ReceiveRegion request = client.receiver().receive();
          SendRegion reply = client.sender().claim(2 * Long.BYTES)) {
        MemorySegment.copy(request.segment(), 0, reply.segment(), 0, Long.BYTES);
        reply.segment().set(ValueLayout.JAVA_LONG, Long.BYTES, ProcessHandle.current().pid());
        reply.commit();
      }
    }
  } catch (EndOfStreamException e) {
    IO.println("a client has closed");
  } catch (FerruleException e) { // it has died, has closed during a reply, or has a fault
    IO.println("a client was lost: " + e.getMessage());
  } catch (IndexOutOfBoundsException e) {
    IO.println("a client has sent less than a number");
  }
}
