// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.fake;

import dev.ferrule.posix.RawMemory;
import dev.ferrule.rdma.queue.SendMemory;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.QueuePairSizes;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.VerbsContext;
import dev.ferrule.verbs.VerbsLibrary;
import dev.ferrule.verbs.calls.CmCalls;
import dev.ferrule.verbs.calls.VerbsCalls;
import dev.ferrule.verbs.libibverbs.ibv_context;
import dev.ferrule.verbs.libibverbs.ibv_mr;
import dev.ferrule.verbs.libibverbs.ibv_qp;
import dev.ferrule.verbs.libibverbs.ibv_recv_wr;
import dev.ferrule.verbs.libibverbs.ibv_send_wr;
import dev.ferrule.verbs.libibverbs.ibv_sge;
import dev.ferrule.verbs.libibverbs.ibv_wc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A fake device under real queue pairs and queues: it records posted requests, and completes those
 * that a test selects. Safe for use by several threads.
 */
public final class ScriptedDevice {

  public static final int RDMA_WRITE = 0;
  public static final int SEND = 2;
  public static final int SEND_WITH_IMMEDIATE = 3;
  public static final int RDMA_READ = 4;
  public static final int COMPARE_AND_SWAP = 5;
  public static final int FETCH_AND_ADD = 6;

  /** The keys of all memory regions. */
  public static final int LOCAL_KEY = 5;

  public static final int REMOTE_KEY = 6;

  private static final int FLAG_WITH_IMMEDIATE = 2;
  private static final int OPCODE_RECEIVE = 1 << 7;
  private static final long REMOTE = ibv_send_wr.wr$offset();
  private static final byte GARBAGE = (byte) 0xee;

  /** The second scatter/gather element of a work request. */
  public record Second(long address, int length, int key) {}

  /** A work request of a send queue; the operands are those of an atomic one. */
  public record Send(
      int queuePair,
      long id,
      int operation,
      int flags,
      long address,
      int length,
      int key,
      @Nullable Second second,
      int immediate,
      long remoteAddress,
      int remoteKey,
      long operand,
      long swap) {

    public boolean isSignaled() {
      return (flags & SendChain.SIGNALED) != 0;
    }

    public boolean isFenced() {
      return (flags & SendChain.FENCE) != 0;
    }

    public boolean isInline() {
      return (flags & SendChain.INLINE) != 0;
    }
  }

  /** An entry of a completion queue. */
  private record Completion(
      long id,
      CompletionStatus status,
      int vendorError,
      int queuePair,
      int length,
      @Nullable Integer immediate) {}

  private final Arena arena = Arena.ofAuto();
  private final AtomicLong lastHandle = new AtomicLong(0x1000);
  private final Map<Long, Integer> queuePairNumbers = new ConcurrentHashMap<>();
  private final Map<Long, Queue<Completion>> completions = new ConcurrentHashMap<>();
  private final Map<Long, AtomicBoolean> polled = new ConcurrentHashMap<>();
  private final MemorySegment region = ibv_mr.allocate(arena);
  private final VerbsContext context;

  /** The requests posted to send queues and to receive queues, in order. */
  private final List<Send> sends = new ArrayList<>(); // guarded by itself

  private final List<Integer> receives = new ArrayList<>(); // guarded by itself

  /** The numbers of calls. */
  public final AtomicInteger sendPosts = new AtomicInteger();

  public final AtomicInteger receivePosts = new AtomicInteger();
  public final AtomicInteger polls = new AtomicInteger();
  public final AtomicInteger notifications = new AtomicInteger();

  /** Runs once, before the next event is requested. */
  public volatile @Nullable Runnable onNotificationRequest;

  /** The access flags of the last memory region. */
  public volatile int lastAccess;

  /** The number of memory regions. */
  public final AtomicInteger registrations = new AtomicInteger();

  /** The number of concurrent polls of a completion queue. */
  public final AtomicInteger overlaps = new AtomicInteger();

  /** The errno of posting; 0 for success. */
  public volatile int sendErrno;

  public volatile int receiveErrno;

  /** The errno of requesting an event; 0 for success. */
  public volatile int notificationErrno;

  /** Called with posted requests instead of recording them, so that a long test needs no memory. */
  public volatile @Nullable Consumer<Send> onSend;

  /**
   * The same for receives: called with the queue pair's number, or 0 for a shared queue, and the
   * buffer.
   */
  public volatile @Nullable BiConsumer<Integer, Integer> onReceive;

  public ScriptedDevice() {
    ibv_mr.lkey(region, LOCAL_KEY);
    ibv_mr.rkey(region, REMOTE_KEY);
    context = context(proxy(VerbsCalls.class));
  }

  private VerbsContext context(VerbsCalls verbs) {
    return VerbsLibrary.of(verbs, proxy(CmCalls.class))
        .context(ibv_context.allocate(arena).address());
  }

  private <T> T proxy(Class<T> type) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> call(method, arguments)));
  }

  private @Nullable Object call(Method method, Object[] arguments) {
    return switch (method.getName()) {
      case "allocPd", "createCq", "createSrq" -> lastHandle.incrementAndGet();
      case "regMr", "regMrIova" -> {
        lastAccess = (int) arguments[arguments.length - 1];
        registrations.incrementAndGet();
        yield region.address();
      }
      case "deregMr" -> {
        registrations.decrementAndGet();
        yield 0;
      }
      case "postSend" -> postSend((long) arguments[1], (long) arguments[2]);
      case "postRecv" ->
          postReceives(queuePairNumbers.get((long) arguments[1]), (long) arguments[2]);
      case "postSrqRecv" -> postReceives(0, (long) arguments[2]);
      case "pollCq" -> poll((long) arguments[1], (int) arguments[2], (long) arguments[3]);
      case "reqNotifyCq" -> {
        notifications.incrementAndGet();
        Runnable before = onNotificationRequest;
        if (before != null) {
          onNotificationRequest = null;
          before.run();
        }
        yield -notificationErrno;
      }
      default -> method.getReturnType() == long.class ? (Object) 0L : (Object) 0;
    };
  }

  public ProtectionDomain domain() {
    return context.allocateProtectionDomain();
  }

  /** Returns send memory of a size. */
  public SendMemory sendMemory(long size) {
    return new SendMemory(domain(), arena, size);
  }

  /** Returns the arena of all memory of the device. */
  public Arena arena() {
    return arena;
  }

  public CompletionQueue completionQueue() {
    CompletionQueue queue = context.createCompletionQueue(64, null, 0);
    completions.put(queue.address(), new ConcurrentLinkedQueue<>());
    polled.put(queue.address(), new AtomicBoolean());
    return queue;
  }

  /** Creates a completion queue that calls the functions of a test. */
  public CompletionQueue completionQueue(VerbsCalls calls) {
    return context(calls).createCompletionQueue(64, null, 0);
  }

  public SharedReceiveQueue sharedReceiveQueue() {
    return domain().createSharedReceiveQueue(64);
  }

  public QueuePair queuePair(int number) {
    MemorySegment memory = ibv_qp.allocate(arena);
    ibv_qp.qp_num(memory, number);
    queuePairNumbers.put(memory.address(), number);
    return new QueuePair(context, memory.address(), new QueuePairSizes(64, 64, 0));
  }

  private int postSend(long queuePair, long first) {
    sendPosts.incrementAndGet();
    if (sendErrno != 0) {
      return -sendErrno;
    }
    long request = first;
    while (request != 0) {
      MemorySegment fields = at(request, ibv_send_wr.sizeof());
      int pieces = ibv_send_wr.num_sge(fields);
      MemorySegment piece = at(ibv_send_wr.sg_list(fields).address(), ibv_sge.sizeof());
      Send send =
          new Send(
              queuePairNumbers.get(queuePair),
              ibv_send_wr.wr_id(fields),
              ibv_send_wr.opcode(fields),
              ibv_send_wr.send_flags(fields),
              ibv_sge.addr(piece),
              pieces == 0 ? 0 : ibv_sge.length(piece),
              ibv_sge.lkey(piece),
              pieces < 2 ? null : second(fields),
              Integer.reverseBytes(RawMemory.getInt(request + ibv_send_wr.imm_data$offset())),
              RawMemory.getLong(request + REMOTE),
              RawMemory.getInt(request + REMOTE + keyOffset(ibv_send_wr.opcode(fields))),
              RawMemory.getLong(request + REMOTE + ibv_send_wr.wr.atomic.compare_add$offset()),
              RawMemory.getLong(request + REMOTE + ibv_send_wr.wr.atomic.swap$offset()));
      Consumer<Send> observer = onSend;
      if (observer != null) {
        observer.accept(send);
      } else {
        synchronized (sends) {
          sends.add(send);
        }
      }
      request = ibv_send_wr.next(fields).address();
    }
    return 0;
  }

  private static long keyOffset(int operation) {
    return operation == COMPARE_AND_SWAP || operation == FETCH_AND_ADD
        ? ibv_send_wr.wr.atomic.rkey$offset()
        : ibv_send_wr.wr.rdma.rkey$offset();
  }

  private static Second second(MemorySegment fields) {
    MemorySegment piece =
        at(ibv_send_wr.sg_list(fields).address() + ibv_sge.sizeof(), ibv_sge.sizeof());
    return new Second(ibv_sge.addr(piece), ibv_sge.length(piece), ibv_sge.lkey(piece));
  }

  private int postReceives(int queuePair, long first) {
    receivePosts.incrementAndGet();
    if (receiveErrno != 0) {
      return -receiveErrno;
    }
    long request = first;
    while (request != 0) {
      MemorySegment fields = at(request, ibv_recv_wr.sizeof());
      int buffer = (int) ibv_recv_wr.wr_id(fields);
      BiConsumer<Integer, Integer> observer = onReceive;
      if (observer != null) {
        observer.accept(queuePair, buffer);
      } else {
        synchronized (receives) {
          receives.add(buffer);
        }
      }
      request = ibv_recv_wr.next(fields).address();
    }
    return 0;
  }

  private int poll(long queue, int limit, long address) {
    polls.incrementAndGet();
    AtomicBoolean inPoll = polled.get(queue);
    if (!inPoll.compareAndSet(false, true)) {
      overlaps.incrementAndGet();
    }
    Queue<Completion> waiting = completions.get(queue);
    int count = 0;
    while (count < limit) {
      Completion next = waiting.poll();
      if (next == null) {
        break;
      }
      write(next, at(address + count * ibv_wc.sizeof(), ibv_wc.sizeof()));
      count++;
    }
    inPoll.set(false);
    return count;
  }

  private static void write(Completion completion, MemorySegment fields) {
    fields.fill(GARBAGE); // only a few fields of a failed completion are valid
    ibv_wc.wr_id(fields, completion.id());
    ibv_wc.status(fields, completion.status().ordinal());
    ibv_wc.qp_num(fields, completion.queuePair());
    ibv_wc.vendor_err(fields, completion.vendorError());
    if (completion.status() == CompletionStatus.SUCCESS) {
      Integer immediate = completion.immediate();
      ibv_wc.opcode(fields, OPCODE_RECEIVE);
      ibv_wc.byte_len(fields, completion.length());
      ibv_wc.wc_flags(fields, immediate == null ? 0 : FLAG_WITH_IMMEDIATE);
      if (immediate != null) {
        RawMemory.putInt(
            fields.address() + ibv_wc.imm_data$offset(), Integer.reverseBytes(immediate));
      }
    }
  }

  private static MemorySegment at(long address, long size) {
    return MemorySegment.ofAddress(address).reinterpret(size);
  }

  private void complete(CompletionQueue queue, Completion completion) {
    completions.get(queue.address()).add(completion);
  }

  /** Completes a send request. */
  public void sent(CompletionQueue queue, long id) {
    complete(queue, new Completion(id, CompletionStatus.SUCCESS, 0, 0, 0, null));
  }

  /** Completes a request with an error. */
  public void failed(
      CompletionQueue queue, int queuePair, long id, CompletionStatus status, int vendorError) {
    complete(queue, new Completion(id, status, vendorError, queuePair, 0, null));
  }

  /** Completes a receive with immediate data. */
  public void received(
      CompletionQueue queue, int queuePair, int buffer, int length, int immediate) {
    complete(
        queue, new Completion(buffer, CompletionStatus.SUCCESS, 0, queuePair, length, immediate));
  }

  /** Completes a receive without immediate data. */
  public void receivedPlain(CompletionQueue queue, int queuePair, int buffer, int length) {
    complete(queue, new Completion(buffer, CompletionStatus.SUCCESS, 0, queuePair, length, null));
  }

  /** Returns all requests posted to send queues, in order. */
  public List<Send> sends() {
    synchronized (sends) {
      return List.copyOf(sends);
    }
  }

  public Send lastSend() {
    List<Send> all = sends();
    return all.get(all.size() - 1);
  }

  /** Returns the posted buffers that are not taken yet. */
  public List<Integer> receives() {
    synchronized (receives) {
      return List.copyOf(receives);
    }
  }

  /** Takes the buffer for the next message. */
  public int takeReceive() {
    synchronized (receives) {
      return receives.remove(0);
    }
  }
}
