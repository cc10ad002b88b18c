// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.*;

// Stores values by keys for many clients. On SIGTERM or Ctrl-C it stops gracefully: it closes its
// listener, completes the requests in progress and closes each connection, so that its clients get
// an EndOfStreamException and not a PeerLostException.

final int MAX_KEYS = 10_000; // or clients could fill the heap
final Map<String, String> values = new ConcurrentHashMap<>();
final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();

void main(String[] args) {
  String address = args.length > 0 ? args[0] : "sm:///dev/shm/key-value";
  // With short messages a connection takes 2 MiB of memory instead of 10.
  ConnectionOptions options =
      ConnectionOptions.builder().set(StandardOptions.MAX_MESSAGE, 4096L).build();
  try (Listener listener = Ferrule.listen(URI.create(address), options)) {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(listener)));
    IO.println("listening at " + listener.uri());
    while (true) {
      try {
        Connection client = listener.accept();
        clients.execute(() -> serve(client));
      } catch (ResourceExhaustedException e) { // clients can cause this, so the server continues
        IO.println("a client was refused: " + e.getMessage());
      }
    }
  } catch (ConnectionClosedException | RejectedExecutionException e) {
    // The server stops.
  } catch (IllegalArgumentException | FerruleException e) { // such as a wrong address
    System.err.println(e.getMessage());
    System.exit(1);
  }
}

void stop(Listener listener) {
  listener.close(); // leaves the connections open
  clients.shutdownNow(); // interrupts the threads that wait for a request
  try {
    boolean done = clients.awaitTermination(10, TimeUnit.SECONDS);
    IO.println(done ? "stopped" : "stopped, without a client that does not receive");
  } catch (InterruptedException e) {
    // The JVM ends.
  }
}

void serve(Connection client) {
  try (client) {
    try {
      while (!clients
          .isShutdown()) { // an interrupt ends a wait, but not a call that finds a request
        try (ReceiveRegion request = client.receiver().receive()) {
          byte[] bytes = request.segment().toArray(ValueLayout.JAVA_BYTE); // read once, then used
          send(client.sender(), execute(new String(bytes)));
        }
      }
    } catch (OperationInterruptedException e) {
      // The server stops.
    }
  } catch (EndOfStreamException e) {
    IO.println("a client has closed");
  } catch (FerruleException e) { // it has died, has closed during a reply, or has a fault
    IO.println("a client was lost: " + e.getMessage());
  }
}

String execute(String request) {
  String[] words = request.split(" ", 3);
  if (words.length == 2 && words[0].equals("get")) {
    return values.getOrDefault(words[1], "no such key");
  }
  if (words.length == 3 && words[0].equals("put")) {
    if (values.size() >= MAX_KEYS && !values.containsKey(words[1])) {
      return "not stored: there are " + MAX_KEYS + " keys already";
    }
    values.put(words[1], words[2]);
    return "stored";
  }
  return "unknown request; use: get KEY, or: put KEY VALUE";
}

void send(Sender sender, String reply) {
  MemorySegment bytes = MemorySegment.ofArray(reply.getBytes());
  try {
    sender.send(bytes);
  } catch (OperationInterruptedException e) { // the server stops, and nothing was sent
    Thread.interrupted();
    sender.send(bytes, Duration.ofSeconds(5)); // this request is in progress, so it is completed
  } catch (MessageTooLongException e) { // the client accepts only shorter messages
    sender.send(MemorySegment.ofArray("too long".getBytes()));
  }
}
