// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.*;

// A thousand virtual threads make blocking calls over one connection and a few senders. A thread
// uses a sender only while it sends. One more thread receives all replies and finds the caller of
// each by its number.

final int THREADS = 1000;
final int CALLS = 10; // of each thread
final int SENDERS = 4;
final BlockingQueue<Sender> senders = new ArrayBlockingQueue<>(SENDERS);
final Map<Long, CompletableFuture<Long>> callers = new ConcurrentHashMap<>();
final AtomicLong lastCall = new AtomicLong();

void main(String[] args) throws InterruptedException {
  String address = args.length > 0 ? args[0] : "sm:///dev/shm/virtual-threads";
  try (Connection server = Ferrule.connect(URI.create(address));
      ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
    IO.println("connected to " + server.uri());
    for (int i = 0; i < SENDERS; i++) {
      senders.add(server.newSender()); // over shared memory each has a ring of its own
    }
    Thread.startVirtualThread(() -> receiveReplies(server));
    List<Future<Long>> sums = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      sums.add(threads.submit(this::sumOfSquares));
    }
    long total = 0;
    for (Future<Long> sum : sums) {
      total += sum.get();
    }
    IO.println(THREADS + " threads have got " + lastCall + " replies; the total is " + total);
  } catch (ExecutionException e) { // a call has failed
    System.err.println(e.getCause().getMessage());
    System.exit(1);
  } catch (IllegalArgumentException | FerruleException e) { // such as a wrong address
    System.err.println(e.getMessage());
    System.exit(1);
  }
}

long sumOfSquares() throws Exception {
  long sum = 0;
  for (int number = 1; number <= CALLS; number++) {
    sum += square(number);
  }
  return sum;
}

long square(long number) throws Exception {
  long call = lastCall.incrementAndGet();
  CompletableFuture<Long> reply = new CompletableFuture<>();
  callers.put(call, reply); // before the request is sent
  try {
    Sender sender = senders.take();
    try (SendRegion request = sender.claim(2 * Long.BYTES)) {
      request.segment().set(ValueLayout.JAVA_LONG, 0, call);
      request.segment().set(ValueLayout.JAVA_LONG, Long.BYTES, number);
      request.commit();
    } finally {
      senders.add(sender);
    }
    return reply.get(30, TimeUnit.SECONDS); // a stopped server is detected late, over RDMA never
  } catch (TimeoutException e) {
    throw new IllegalStateException("the server has not replied within 30 s", e);
  } finally {
    callers.remove(call);
  }
}

void receiveReplies(Connection server) {
  try {
    while (true) {
      try (ReceiveRegion reply = server.receiver().receive()) {
        long call = reply.segment().get(ValueLayout.JAVA_LONG, 0);
        CompletableFuture<Long> caller = callers.get(call);
        if (caller != null) { // otherwise its time was over
          caller.complete(reply.segment().get(ValueLayout.JAVA_LONG, Long.BYTES));
        }
      }
    }
  } catch (FerruleException | IndexOutOfBoundsException e) { // the server has died, or has a fault
    callers.values().forEach(caller -> caller.completeExceptionally(e));
    server.close(); // so that later calls fail as well
  }
}
