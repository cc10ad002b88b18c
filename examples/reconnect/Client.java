// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.*;

// Sends a request each 100 ms until Ctrl-C. If the server is lost, it connects again, and repeats
// the request that was not answered. The server may have executed that request before it died, so
// only a request with the same effect when executed twice may be repeated.

void main(String[] args) throws InterruptedException {
  try {
    String address = args.length > 0 ? args[0] : "sm:///dev/shm/reconnect";
    run(URI.create(address));
  } catch (IllegalArgumentException | FerruleException e) { // a wrong address, or a fault
    System.err.println(e.getMessage());
    System.exit(1);
  }
}

void run(URI address) throws InterruptedException {
  long number = 1;
  while (true) {
    // A new connection: a lost one is not usable again, but is closed, which releases its memory.
    try (Connection server = connect(address)) {
      IO.println("connected to " + server.uri());
      while (true) {
        long process = ask(server, number);
        IO.println("reply " + number + " of process " + process);
        number++;
        Thread.sleep(100);
      }
    } catch (PeerLostException | ConnectionClosedException | EndOfStreamException e) {
      IO.println("the server was lost: " + e.getMessage()); // it has died or stopped
    } catch (OperationTimeoutException e) {
      // A late reply would be taken for that to the next request, so this connection is closed.
      IO.println("the server does not reply: " + e.getMessage());
    }
  }
}

long ask(Connection server, long number) {
  try (SendRegion request = server.sender().claim(Long.BYTES, Duration.ofSeconds(30))) {
    request.segment().set(ValueLayout.JAVA_LONG, 0, number);
    request.commit();
  }
  try (ReceiveRegion reply = server.receiver().receive(Duration.ofSeconds(30))) {
    return reply.segment().get(ValueLayout.JAVA_LONG, Long.BYTES);
  }
}

Connection connect(URI address) throws InterruptedException {
  for (long pause = 10; ; pause = Math.min(2 * pause, 1000)) {
    try {
      return Ferrule.connect(address);
    } catch (ConnectionRefusedException
        | OperationTimeoutException
        | ResourceExhaustedException e) {
      IO.println("not connected: " + e.getMessage()); // not started yet, busy, or just ended
    }
    // A random part, so that the clients of a server that has died do not all return at once.
    Thread.sleep(pause / 2 + ThreadLocalRandom.current().nextLong(pause));
  }
}
