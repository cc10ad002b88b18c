// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.verbs.*;
import dev.ferrule.verbs.cm.*;

// SEND, WRITE and READ between two queue pairs of the device whose address is the argument.

/** An end of a connection: a queue pair, the queue of its completions, and a page of memory. */
record End(
    CmId id, ProtectionDomain domain, CompletionQueue queue, QueuePair pair, MemoryRegion memory)
    implements AutoCloseable {

  static End of(CmId id) {
    ProtectionDomain domain = id.context().orElseThrow().allocateProtectionDomain();
    CompletionQueue queue = domain.context().createCompletionQueue(16, null, 0);
    QueuePair pair = id.createQueuePair(domain, new QueuePairSizes(8, 8, 0), queue, queue, null);
    int access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;
    return new End(id, domain, queue, pair, domain.allocate(4096, access));
  }

  /** Permits the peer to send a message, which will lie at the beginning of the memory. */
  void postReceive() {
    ReceiveChain receive = new ReceiveChain(1);
    receive.set(0, 0, memory.segment().address(), 4096, memory.localKey());
    VerbsException.check("ibv_post_recv", "", pair.post(receive, 0, 1));
  }

  /** Sends from the memory, or writes or reads that of the peer; waits until this is done. */
  void transfer(SendOperation operation, int offset, int length, long remote, int remoteKey) {
    SendChain send = new SendChain(1);
    long address = memory.segment().address() + offset;
    send.set(0, operation, 0, address, length, memory.localKey(), SendChain.SIGNALED);
    send.setRemote(0, remote, remoteKey);
    VerbsException.check("ibv_post_send", "", pair.post(send, 0, 1));
    awaitCompletion();
  }

  void awaitCompletion() {
    int count = queue.poll(1);
    while (count == 0) {
      Thread.onSpinWait();
      count = queue.poll(1);
    }
    if (count < 0 || !queue.isSuccess(0)) {
      throw new IllegalStateException(count < 0 ? "ibv_poll_cq" : queue.status(0).text());
    }
  }

  @Override
  public void close() {
    id.destroyQueuePair();
    id.close();
    memory.close();
    queue.close();
    domain.close();
  }
}

void main(String[] args) {
  if (args.length != 1) {
    System.err.println("usage: VerbsExample.java ADDRESS, such as 10.0.0.1, of the device's port");
    System.exit(2);
  }
  try {
    IO.println(run(args[0]));
  } catch (VerbsException | IllegalStateException e) { // no device at the address; a failed request
    System.err.println(e.getMessage());
    System.exit(1);
  }
}

String run(String address) {
  try (EventChannel events = EventChannel.create(VerbsLibrary.system());
      CmId listener = events.createId()) {
    listener.bind(new InetSocketAddress(address, 0));
    listener.listen(1);
    CmId id = events.createId();
    id.resolveAddress(new InetSocketAddress(address, listener.port()), 10_000);
    next(events, CmEvent.Type.ADDRESS_RESOLVED);
    id.resolveRoute(10_000);
    next(events, CmEvent.Type.ROUTE_RESOLVED);
    try (End client = End.of(id)) {
      id.connect(new ConnectionParameters(new byte[0], 4, 4, 7, 7));
      CmEvent request = next(events, CmEvent.Type.CONNECT_REQUEST);
      try (End server = End.of(events.adopt(request.id()))) {
        server.postReceive();
        ByteBuffer place = ByteBuffer.allocate(12); // where the client may write and read
        place.putLong(server.memory.segment().address()).putInt(server.memory.remoteKey());
        server.id.accept(new ConnectionParameters(place.array(), 4, 4, 7, 7));
        CmEvent established = next(events, CmEvent.Type.ESTABLISHED); // first of the client
        return exchange(client, server, ByteBuffer.wrap(established.privateData()));
      }
    }
  }
}

String exchange(End client, End server, ByteBuffer place) {
  long remote = place.getLong();
  int key = place.getInt();
  client.memory.segment().setString(0, "sent");
  client.transfer(SendOperation.SEND, 0, 5, 0, 0);
  server.awaitCompletion();
  client.memory.segment().setString(0, "written");
  client.transfer(SendOperation.RDMA_WRITE, 0, 8, remote + 1024, key);
  server.memory.segment().setString(2048, "read");
  client.transfer(SendOperation.RDMA_READ, 512, 5, remote + 2048, key);
  return String.join(
      ", ",
      server.memory.segment().getString(0),
      server.memory.segment().getString(1024),
      client.memory.segment().getString(512));
}

CmEvent next(EventChannel channel, CmEvent.Type type) {
  CmEvent event = channel.nextEvent().orElseThrow(); // waits, as its descriptor is blocking
  if (event.type() != type) {
    throw new IllegalStateException(event.toString());
  }
  return event;
}
