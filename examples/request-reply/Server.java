// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.*;

// Replies to each request, which is a number and a text, with the same number and the text in upper
// case. Each client has a virtual thread of its own, so a client that dies ends only its thread.

void main(String[] args) {
  String address = args.length > 0 ? args[0] : "sm:///dev/shm/request-reply";
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
      try (ReceiveRegion request = client.receiver().receive()) {
        reply(client, request.segment());
      }
    }
  } catch (EndOfStreamException e) {
    IO.println("a client has closed");
  } catch (FerruleException e) { // it has died, has closed during the reply, or has a fault
    IO.println("a client was lost: " + e.getMessage());
  } catch (IndexOutOfBoundsException e) {
    IO.println("a client has sent a request without a number");
  }
}

void reply(Connection client, MemorySegment request) {
  long number = request.get(ValueLayout.JAVA_LONG, 0);
  // The text is copied before it is used: the client's process could still change the request.
  String text = new String(request.asSlice(Long.BYTES).toArray(ValueLayout.JAVA_BYTE));
  byte[] upperCase = text.toUpperCase(Locale.ROOT).getBytes();
  try (SendRegion reply = client.sender().claim(Long.BYTES + upperCase.length)) {
    reply.segment().set(ValueLayout.JAVA_LONG, 0, number);
    MemorySegment.copy(
        upperCase, 0, reply.segment(), ValueLayout.JAVA_BYTE, Long.BYTES, upperCase.length);
    reply.commit();
  }
}
