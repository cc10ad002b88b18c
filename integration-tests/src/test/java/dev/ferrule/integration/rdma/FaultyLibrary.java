// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.withSettings;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.libc.LibC;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.VerbsLibrary;
import dev.ferrule.verbs.calls.CmCalls;
import dev.ferrule.verbs.calls.NativeCmCalls;
import dev.ferrule.verbs.calls.NativeVerbsCalls;
import dev.ferrule.verbs.calls.VerbsCalls;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.libibverbs.ibv_async_event;
import dev.ferrule.verbs.libibverbs.ibv_context;
import dev.ferrule.verbs.libibverbs.ibv_qp;
import dev.ferrule.verbs.libibverbs.ibv_recv_wr;
import dev.ferrule.verbs.libibverbs.ibv_send_wr;
import dev.ferrule.verbs.libibverbs.ibv_wc;
import dev.ferrule.verbs.librdmacm.rdma_cm_event;
import dev.ferrule.verbs.librdmacm.rdma_cm_id;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.mockito.invocation.InvocationOnMock;

/**
 * The installed libraries on the real device, with injected faults: failing calls, completions with
 * an error, and asynchronous events. It also counts the objects created and destroyed.
 */
final class FaultyLibrary {

  /** Functions that create an object, and those that destroy it. */
  private static final Map<String, String> PAIRS =
      Map.of(
          "allocPd", "deallocPd",
          "createCompChannel", "destroyCompChannel",
          "createCq", "destroyCq",
          "createSrq", "destroySrq",
          "regMr", "deregMr",
          "createQp", "destroyQp",
          "createId", "destroyId",
          "createEventChannel", "destroyEventChannel");

  /** Functions that create the same kind of object. */
  private static final Map<String, String> OTHER_WAYS = Map.of("regMr", "regMrIova");

  /** The first functions that are called when the context is complete. */
  private static final Set<String> AFTER_THE_CONTEXT = Set.of("createCq", "createSrq", "regMrIova");

  private static final Object DELEGATE = new Object();

  private final VerbsCalls realVerbs = new NativeVerbsCalls();
  private final CmCalls realCm = new NativeCmCalls();
  private final Map<String, Integer> failing = new ConcurrentHashMap<>(); // errno by function
  private final Map<String, Runnable> following = new ConcurrentHashMap<>(); // by function
  private final Map<String, AtomicInteger> done = new ConcurrentHashMap<>();
  private final Queue<AsyncEvent> events = new ConcurrentLinkedQueue<>();
  private final int eventDescriptor =
      LibC.eventfd(0, LibC.EFD_CLOEXEC() | LibC.EFD_NONBLOCK() | LibC.EFD_SEMAPHORE());
  private volatile CompletionStatus sends = CompletionStatus.SUCCESS;
  private volatile CompletionStatus receives = CompletionStatus.SUCCESS;
  private volatile int reported; // events
  private volatile int handled; // events
  private boolean requestPending; // the last event; used by the event thread only
  private final AtomicInteger requestsTaken = new AtomicInteger();
  private final Queue<List<Integer>> sendPosts = new ConcurrentLinkedQueue<>(); // flags of each
  private final Queue<Integer> receivePosts = new ConcurrentLinkedQueue<>(); // requests of each
  private final AtomicInteger mostPolled = new AtomicInteger();
  private volatile long lastQueuePair;
  private volatile long lastCompletionQueue;
  private final Set<Integer> destroyed = ConcurrentHashMap.newKeySet(); // numbers of queue pairs
  private volatile boolean dropping;
  private final AtomicReference<Runnable> restoration =
      new AtomicReference<>(); // of the descriptor

  /** The library for a provider. */
  final VerbsLibrary library =
      VerbsLibrary.of(mocked(VerbsCalls.class, realVerbs), mocked(CmCalls.class, realCm));

  private <T> T mocked(Class<T> type, T real) {
    return mock(type, withSettings().stubOnly().defaultAnswer(call -> answer(real, call)));
  }

  /** Makes a function, by its name in the interface, fail from now on. */
  void fail(String function, int errno) {
    failing.put(function, errno);
  }

  /** Runs an action after the next call of a function, by its name in the interface. */
  void afterNext(String function, Runnable action) {
    following.put(function, action);
  }

  /** Makes no function fail any more. */
  void repair() {
    failing.clear();
  }

  /** Makes sends complete with an error from now on. */
  void failSends(CompletionStatus status) {
    sends = status;
  }

  /** Makes receives complete with an error from now on. */
  void failReceives(CompletionStatus status) {
    receives = status;
  }

  /** Drops completions of destroyed queue pairs, as many drivers do. */
  void dropCompletionsOfDestroyed() {
    dropping = true;
  }

  /**
   * Makes the device report an event: of a port, or of the queue created last, as its type
   * requires.
   */
  void report(AsyncEvent.Type type) {
    long element =
        switch (type) {
          case COMPLETION_QUEUE_ERROR -> lastCompletionQueue;
          case DEVICE_FATAL, PORT_ERROR -> 1; // a port
          default -> lastQueuePair;
        };
    events.add(new AsyncEvent(type, type.ordinal(), element));
    reported++; // only by the test's thread
    try (Arena arena = Arena.ofConfined()) {
      LibC.write(eventDescriptor, arena.allocateFrom(ValueLayout.JAVA_LONG, 1), Long.BYTES);
    }
  }

  /** Waits until the context has handled all events. */
  void awaitEventsTaken() {
    Task.await("events were handled", () -> handled == reported);
  }

  /** Waits until the event thread has handled a connect request. */
  void awaitRequestTaken() {
    Task.await("a connect request was handled", () -> requestsTaken.get() > 0);
  }

  /** Returns the posts of sends since the last call: the flags of the requests of each. */
  List<List<Integer>> takeSendPosts() {
    return take(sendPosts);
  }

  /** Returns the posts of receives since the last call: the number of requests of each. */
  List<Integer> takeReceivePosts() {
    return take(receivePosts);
  }

  private static <T> List<T> take(Queue<T> queue) {
    List<T> taken = new ArrayList<>();
    for (T next = queue.poll(); next != null; next = queue.poll()) {
      taken.add(next);
    }
    return taken;
  }

  /** Returns the largest number of completions returned by one poll. */
  int mostPolled() {
    return mostPolled.get();
  }

  /** Returns the number of objects not destroyed, by the creating function; without zeros. */
  Map<String, Integer> left() {
    Map<String, Integer> left = new TreeMap<>();
    PAIRS.forEach((make, giveUp) -> {
      int made = count(make).get() + count(OTHER_WAYS.getOrDefault(make, "")).get();
      int count = made - count(giveUp).get();
      if (count != 0) {
        left.put(make, count);
      }
    });
    return left;
  }

  private AtomicInteger count(String function) {
    return done.computeIfAbsent(function, name -> new AtomicInteger());
  }

  private Object answer(Object real, InvocationOnMock call) throws Throwable {
    String function = call.getMethod().getName();
    if (AFTER_THE_CONTEXT.contains(function)) {
      restoreDescriptor();
    }
    Integer errno = failing.get(function);
    if (errno != null) {
      return call.getMethod().getReturnType() == long.class ? (Object) (long) -errno : -errno;
    }
    Object made = onEvents(function, call.getArguments());
    if (made != DELEGATE) {
      return made;
    }
    record(function, call.getArguments());
    if (function.equals("destroyQp")) {
      destroyed.add(ibv_qp.qp_num(queuePair((long) call.getArguments()[0])));
    }
    Object result;
    try {
      result = call.getMethod().invoke(real, call.getArguments());
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
    if (!(result instanceof Number number) || number.longValue() >= 0) {
      count(function).incrementAndGet();
    }
    if (function.equals("pollCq") && dropping) {
      result = drop((int) result, (long) call.getArguments()[3]);
    }
    note(function, call.getArguments(), result);
    Runnable next = following.remove(function);
    if (next != null) {
      next.run();
    }
    return result;
  }

  /**
   * Replaces the device's descriptor, which both contexts of this process would read, by a
   * simulated one, and returns simulated events.
   */
  private Object onEvents(String function, Object[] arguments) {
    switch (function) {
      case "createCompChannel" -> {
        MemorySegment context = context((long) arguments[0]);
        int kept = ibv_context.async_fd(context);
        restoration.set(() -> ibv_context.async_fd(context, kept));
        ibv_context.async_fd(context, eventDescriptor);
        return DELEGATE;
      }
      case "getAsyncEvent" -> {
        try (Arena arena = Arena.ofConfined()) {
          LibC.read(eventDescriptor, arena.allocate(Long.BYTES), Long.BYTES);
        }
        int reportedBefore = reported;
        AsyncEvent event = events.poll();
        if (event == null) {
          handled = reportedBefore; // this thread handles an event before it reads again
          return -Errno.EAGAIN;
        }
        MemorySegment memory = (MemorySegment) arguments[1];
        ibv_async_event.event_type(memory, event.code());
        memory.set(ValueLayout.JAVA_LONG, ibv_async_event.element$offset(), event.element());
        return 0;
      }
      case "ackAsyncEvent" -> {
        return null;
      }
      default -> {
        return DELEGATE;
      }
    }
  }

  /**
   * Restores the descriptor: the context has polled it by now, and creating queues needs the real
   * one.
   */
  private void restoreDescriptor() {
    Runnable undo = restoration.getAndSet(null);
    if (undo != null) {
      undo.run();
    }
  }

  private static MemorySegment context(long address) {
    return MemorySegment.ofAddress(address).reinterpret(ibv_context.sizeof());
  }

  /** Records the posted requests, before the device may modify them. */
  private void record(String function, Object[] arguments) {
    switch (function) {
      case "postSend" -> {
        List<Integer> flags = new ArrayList<>();
        for (long at = (long) arguments[2]; at != 0; ) {
          MemorySegment request = MemorySegment.ofAddress(at).reinterpret(ibv_send_wr.sizeof());
          flags.add(ibv_send_wr.send_flags(request));
          at = ibv_send_wr.next(request).address();
        }
        sendPosts.add(flags);
      }
      case "postRecv", "postSrqRecv" -> {
        int count = 0;
        for (long at = (long) arguments[2]; at != 0; count++) {
          MemorySegment request = MemorySegment.ofAddress(at).reinterpret(ibv_recv_wr.sizeof());
          at = ibv_recv_wr.next(request).address();
        }
        receivePosts.add(count);
      }
      default -> {}
    }
  }

  private void note(String function, Object[] arguments, Object result) {
    switch (function) {
      case "createCq" -> lastCompletionQueue = (long) result;
      case "createQp" -> {
        MemorySegment queuePair = queuePair((long) arguments[0]);
        lastQueuePair = queuePair.address();
        destroyed.remove(ibv_qp.qp_num(queuePair));
      }
      case "getCmEvent" -> {
        if (requestPending) {
          requestsTaken.incrementAndGet(); // the last event has been handled by now
        }
        requestPending = (long) result > 0 && isRequest((long) result);
        if (requestPending) {
          count("createId").incrementAndGet(); // the event contains a new id
        }
      }
      case "pollCq" -> {
        mostPolled.accumulateAndGet((int) result, Math::max);
        setErrorStatus((int) result, (long) arguments[3]);
      }
      default -> {}
    }
  }

  private static MemorySegment queuePair(long id) {
    MemorySegment memory = MemorySegment.ofAddress(id).reinterpret(rdma_cm_id.sizeof());
    return rdma_cm_id.qp(memory).reinterpret(ibv_qp.sizeof());
  }

  /** Removes the completions of destroyed queue pairs; returns the number of the others. */
  private int drop(int count, long completions) {
    MemorySegment all =
        MemorySegment.ofAddress(completions).reinterpret(Math.max(0, count) * ibv_wc.sizeof());
    int kept = 0;
    for (int i = 0; i < count; i++) {
      MemorySegment one = ibv_wc.asSlice(all, i);
      if (!destroyed.contains(ibv_wc.qp_num(one))) {
        ibv_wc.asSlice(all, kept).copyFrom(one);
        kept++;
      }
    }
    return Math.min(count, kept);
  }

  private static boolean isRequest(long event) {
    MemorySegment memory = MemorySegment.ofAddress(event).reinterpret(rdma_cm_event.sizeof());
    return rdma_cm_event.event(memory) == CmEvent.Type.CONNECT_REQUEST.ordinal();
  }

  private void setErrorStatus(int count, long completions) {
    if (count < 1) {
      return;
    }
    MemorySegment first = MemorySegment.ofAddress(completions).reinterpret(ibv_wc.sizeof());
    boolean receive = (ibv_wc.opcode(first) & 1 << 7) != 0;
    CompletionStatus status = receive ? receives : sends;
    if (status != CompletionStatus.SUCCESS) {
      ibv_wc.status(first, status.ordinal());
    }
  }
}
