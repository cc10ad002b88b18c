// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import static dev.ferrule.rdma.simulation.WorkRequests.FETCH_AND_ADD;
import static dev.ferrule.rdma.simulation.WorkRequests.RDMA_READ;
import static dev.ferrule.rdma.simulation.WorkRequests.RDMA_WRITE;
import static dev.ferrule.rdma.simulation.WorkRequests.RDMA_WRITE_WITH_IMMEDIATE;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.RawMemory;
import dev.ferrule.rdma.simulation.CompletionQueueState.Completion;
import dev.ferrule.rdma.simulation.FabricScheduler.Step;
import dev.ferrule.rdma.simulation.WorkRequests.Receive;
import dev.ferrule.rdma.simulation.WorkRequests.Send;
import dev.ferrule.verbs.AccessFlags;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.QueuePairSizes;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.libibverbs.ibv_qp;
import dev.ferrule.verbs.libibverbs.ibv_send_wr;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A reliably connected queue pair. Its device transmits the send requests in order: each is
 * executed at the peer, then acknowledged and completed. A receive that it consumes completes in a
 * step of its own. An error flushes all other requests of the queue pair, in order.
 */
final class QueuePairState extends FabricObject {

  /** The states that a program can distinguish: sending begins at the same time as receiving. */
  enum State {
    INIT,
    CONNECTED,
    ERROR,
    DESTROYED
  }

  /** A request that the peer has executed or that has failed, and the data that it has read. */
  private record Executed(Send request, int status, byte[] response) {}

  static final int MAX_PIECES = 2;
  private static final int NOT_READY = -1;
  private static final int SUCCESS = CompletionStatus.SUCCESS.ordinal();
  private static final int RECEIVE = 1 << 7;
  private static final int[] COMPLETED_AS = {1, 1, 0, 0, 2, 3, 4}; // ibv_wc_opcode by ibv_wr_opcode
  private static final int WITHOUT_LIMIT = 7;

  final int number;
  final DomainState domain;
  final CompletionQueueState sendCompletions;
  final CompletionQueueState receiveCompletions;
  final @Nullable SharedReceivesState shared;
  private final SimulatedFabric fabric;
  private final QueuePairSizes sizes;
  private final PostedReceives receives;
  private final List<Step> steps;

  State state = State.INIT;
  @Nullable QueuePairState peer;
  boolean confirmed; // the connection manager has reported the connection
  boolean cut; // nothing arrives at the peer any more
  int reads; // the maximum number of outstanding RDMA READs and atomic operations
  int notReadyRetries = WITHOUT_LIMIT; // of the peer's program, for messages of this side

  private final ArrayDeque<Send> waiting = new ArrayDeque<>();
  private final ArrayDeque<Executed> executed = new ArrayDeque<>(); // not acknowledged
  private final ArrayDeque<Completion> arriving = new ArrayDeque<>(); // of consumed receives
  private long posted; // send requests
  private long freed; // send requests whose completion, or a later one, was polled
  private boolean notReady; // the peer had no receive for the first waiting request
  private int notReadyAttempts;
  private long unansweredSince; // when the peer stopped answering
  private boolean established; // whether a message before the confirmation has been reported
  private boolean lastReceiveReported;

  QueuePairState(
      MemorySegment structure,
      SimulatedFabric fabric,
      int number,
      DomainState domain,
      CompletionQueueState sendCompletions,
      CompletionQueueState receiveCompletions,
      @Nullable SharedReceivesState shared,
      QueuePairSizes sizes) {
    super(structure);
    this.fabric = fabric;
    this.number = number;
    this.domain = domain;
    this.sendCompletions = sendCompletions;
    this.receiveCompletions = receiveCompletions;
    this.shared = shared;
    this.sizes = sizes;
    this.receives = shared == null ? new PostedReceives(sizes.receives(), 1) : shared.receives;
    ibv_qp.qp_num(structure, number);
    steps =
        List.of(
            new Step(StepKind.TRANSMISSION, this::canTransmit, this::transmit),
            new Step(StepKind.COMPLETION, this::canCompleteSend, this::completeSend),
            new Step(StepKind.COMPLETION, this::canCompleteReceive, this::completeReceive));
    steps.forEach(fabric.scheduler()::add);
    count(1);
  }

  private void count(int more) {
    domain.users += more;
    sendCompletions.users += more;
    receiveCompletions.users += more;
    if (shared != null) {
      shared.users += more;
    }
  }

  /** Connects the queue pair to the peer's. It sends and receives from now on. */
  void connect(QueuePairState to) {
    peer = to;
    state = State.CONNECTED;
  }

  boolean isConnected() {
    return state == State.CONNECTED;
  }

  /** Returns whether consumed receives have not completed yet. */
  boolean isReceiving() {
    return !arriving.isEmpty();
  }

  /**
   * Moves the queue pair to the error state and reports the reason, unless it is in that state
   * already.
   */
  void toError(AsyncEvent.@Nullable Type event) {
    if (state != State.ERROR && state != State.DESTROYED) {
      state = State.ERROR;
      if (event != null) {
        domain.context.report(event, this);
      }
    }
  }

  /** Stops all work. Completions of consumed receives that are not in the queue yet are lost. */
  void destroy(boolean dropsCompletions) {
    state = State.DESTROYED;
    steps.forEach(fabric.scheduler()::remove);
    arriving.forEach(completion -> completion.polled().run());
    arriving.clear();
    if (dropsCompletions) {
      sendCompletions.drop(this);
      receiveCompletions.drop(this);
    }
    domain.context.forget(this);
    count(-1);
  }

  /** Posts receives. The queue pair must not be destroyed. */
  int postReceives(long first, long bad) {
    return shared == null ? receives.post(first, bad) : -Errno.EINVAL;
  }

  /**
   * Posts sends. Returns EINVAL if the queue pair is not connected yet; flushes them in the error
   * state.
   */
  int postSends(long first, long bad) {
    for (long at = first; at != 0; at = RawMemory.getLong(at + ibv_send_wr.next$offset())) {
      Send request = WorkRequests.send(at, posted);
      int errno = posted - freed == sizes.sends() ? Errno.ENOMEM : objection(request);
      if (errno != 0) {
        RawMemory.putLong(bad, at);
        return -errno;
      }
      waiting.add(request);
      posted++;
    }
    return 0;
  }

  private int objection(Send request) {
    boolean inline = request.has(SendChain.INLINE);
    boolean valid =
        (state == State.CONNECTED || state == State.ERROR)
            && request.opcode() >= RDMA_WRITE
            && request.opcode() <= FETCH_AND_ADD
            && request.pieces().size() <= MAX_PIECES
            && (!inline || request.length() <= sizes.inline() && !request.reads())
            && (!request.isAtomic() || request.length() == Long.BYTES);
    return valid ? 0 : Errno.EINVAL;
  }

  private boolean isPeerReady() {
    QueuePairState to = peer;
    return to != null && !cut && to.isConnected();
  }

  private boolean canTransmit() {
    Send next = waiting.peek();
    if (next == null || state != State.CONNECTED || hasFailed() || waitsForReads(next)) {
      return false;
    }
    QueuePairState to = peer;
    if (to == null || to.state == State.INIT && !cut) {
      return false; // until the peer's program takes the event
    }
    if (!isPeerReady()) {
      unansweredSince = unansweredSince == 0 ? System.nanoTime() : unansweredSince;
      return System.nanoTime() - unansweredSince >= fabric.retryNanos();
    }
    return !notReady || !to.receives.isEmpty() || notReadyRetries != WITHOUT_LIMIT;
  }

  private boolean hasFailed() {
    return !executed.isEmpty() && executed.getLast().status != SUCCESS;
  }

  /**
   * Returns whether a request must wait. One with a fence waits for all earlier reads; a read waits
   * if the maximum number is outstanding.
   */
  private boolean waitsForReads(Send next) {
    long outstanding = executed.stream().filter(earlier -> earlier.request.reads()).count();
    return next.has(SendChain.FENCE) && outstanding > 0
        || next.reads() && reads > 0 && outstanding >= reads;
  }

  private void transmit() {
    Send request = waiting.element();
    int injected = fabric.faults().sendStatus();
    Executed result = injected == SUCCESS ? execute(request) : ended(request, injected);
    if (result.status == NOT_READY) {
      if (!notReady) {
        fabric.countNotReady();
      }
      notReady = true;
      notReadyAttempts++;
      if (notReadyRetries == WITHOUT_LIMIT || notReadyAttempts <= notReadyRetries) {
        return;
      }
      result = ended(request, CompletionStatus.RNR_RETRY_EXCEEDED.ordinal());
    }
    notReady = false;
    notReadyAttempts = 0;
    waiting.remove();
    executed.add(result);
  }

  /** Returns the result of a request without a response. */
  private static Executed ended(Send request, int status) {
    return new Executed(request, status, new byte[0]);
  }

  private static Executed ended(Send request, CompletionStatus status) {
    return ended(request, status.ordinal());
  }

  private Executed execute(Send request) {
    QueuePairState to = peer;
    if (to == null || !isPeerReady()) {
      return ended(request, CompletionStatus.RETRY_EXCEEDED);
    }
    if (request.reads()) {
      return reads == 0
          ? ended(request, CompletionStatus.REMOTE_INVALID_REQUEST_ERROR)
          : to.answer(request);
    }
    byte[] data =
        request.has(SendChain.INLINE) ? request.inline() : domain.gather(request.pieces());
    if (data == null) {
      return ended(request, CompletionStatus.LOCAL_PROTECTION_ERROR);
    }
    to.reportEarlyMessage();
    return switch (request.opcode()) {
      case RDMA_WRITE -> ended(request, to.write(request, data));
      case RDMA_WRITE_WITH_IMMEDIATE -> {
        if (to.receives.isEmpty()) {
          yield ended(request, NOT_READY);
        }
        int status = to.write(request, data);
        yield ended(request, status == SUCCESS ? to.consume(request, data) : status);
      }
      default -> ended(request, to.receives.isEmpty() ? NOT_READY : to.consume(request, data));
    };
  }

  /** A message before the connection manager's confirmation causes an event. */
  private void reportEarlyMessage() {
    if (!confirmed && !established) {
      established = true;
      domain.context.report(AsyncEvent.Type.COMMUNICATION_ESTABLISHED, this);
    }
  }

  /** Executes a write of the peer; returns the status for the peer. An empty write needs no key. */
  private int write(Send request, byte[] data) {
    if (data.length == 0) {
      return SUCCESS;
    }
    long address =
        domain.remote(
            request.remoteKey(), request.remoteAddress(), data.length, AccessFlags.REMOTE_WRITE);
    if (address == -1) {
      return denied();
    }
    DomainState.write(address, data, 0, data.length);
    return SUCCESS;
  }

  private int denied() {
    toError(AsyncEvent.Type.QUEUE_PAIR_ACCESS_ERROR);
    return CompletionStatus.REMOTE_ACCESS_ERROR.ordinal();
  }

  /** Consumes a posted receive for a message of the peer. Returns the status for the peer. */
  private int consume(Send request, byte[] data) {
    Receive receive = receives.take();
    if (receive == null) {
      return NOT_READY;
    }
    boolean placed = request.writesWithImmediate();
    CompletionStatus status = CompletionStatus.SUCCESS;
    CompletionStatus answer = CompletionStatus.SUCCESS;
    if (!placed && data.length > WorkRequests.length(receive.pieces())) {
      status = CompletionStatus.LOCAL_LENGTH_ERROR;
      answer = CompletionStatus.REMOTE_INVALID_REQUEST_ERROR;
    } else if (!placed && !domain.scatter(receive.pieces(), data)) {
      status = CompletionStatus.LOCAL_PROTECTION_ERROR;
      answer = CompletionStatus.REMOTE_OPERATION_ERROR;
    }
    int injected = fabric.faults().receiveStatus();
    if (injected != SUCCESS) {
      status = CompletionStatus.of(injected);
      answer = CompletionStatus.REMOTE_OPERATION_ERROR;
    }
    arriving.add(
        new Completion(
            this,
            receive.id(),
            status.ordinal(),
            placed ? RECEIVE + 1 : RECEIVE,
            data.length,
            request.hasImmediate() ? request.immediate() : null,
            request.has(SendChain.SOLICITED),
            receives::completed));
    if (status != CompletionStatus.SUCCESS) {
      toError(null);
    }
    return answer.ordinal();
  }

  /** Executes an RDMA READ or an atomic operation of the peer. */
  private Executed answer(Send request) {
    int length = request.length();
    if (request.opcode() == RDMA_READ && length == 0) {
      return ended(request, SUCCESS);
    }
    if (request.isAtomic() && request.remoteAddress() % Long.BYTES != 0) {
      toError(AsyncEvent.Type.QUEUE_PAIR_REQUEST_ERROR);
      return ended(request, CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    }
    int right = request.isAtomic() ? AccessFlags.REMOTE_ATOMIC : AccessFlags.REMOTE_READ;
    long address = domain.remote(request.remoteKey(), request.remoteAddress(), length, right);
    if (address == -1) {
      return ended(request, denied());
    }
    byte[] before = RawMemory.bytes(address, length);
    if (request.isAtomic()) {
      long value = RawMemory.getLong(address);
      if (request.opcode() == FETCH_AND_ADD) {
        RawMemory.putLong(address, value + request.operand());
      } else if (value == request.operand()) {
        RawMemory.putLong(address, request.swap());
      }
      before = ByteBuffer.allocate(length).order(ByteOrder.nativeOrder()).putLong(value).array();
    }
    return new Executed(request, SUCCESS, before);
  }

  private boolean canCompleteSend() {
    return !executed.isEmpty() || state == State.ERROR && !waiting.isEmpty();
  }

  private void completeSend() {
    if (state == State.ERROR) {
      Send flushed = executed.isEmpty() ? waiting.remove() : executed.remove().request;
      complete(flushed, CompletionStatus.FLUSHED.ordinal());
      return;
    }
    Executed first = executed.remove();
    int status = first.status;
    if (first.response.length > 0 && !domain.scatter(first.request.pieces(), first.response)) {
      status = CompletionStatus.LOCAL_PROTECTION_ERROR.ordinal();
    }
    if (status != SUCCESS) {
      toError(null);
    }
    if (status != SUCCESS || first.request.has(SendChain.SIGNALED)) {
      complete(first.request, status);
    }
  }

  private void complete(Send request, int status) {
    sendCompletions.add(
        new Completion(
            this,
            request.id(),
            status,
            COMPLETED_AS[request.opcode()],
            request.length(),
            null,
            false,
            () -> freed = Math.max(freed, request.sequence() + 1)));
  }

  private boolean canCompleteReceive() {
    return !arriving.isEmpty()
        || state == State.ERROR && (shared == null ? !receives.isEmpty() : !lastReceiveReported);
  }

  /** Completes a consumed receive, or flushes one. Receives of a shared queue are not flushed. */
  private void completeReceive() {
    if (!arriving.isEmpty()) {
      receiveCompletions.add(arriving.remove());
    } else if (shared != null) {
      lastReceiveReported = true;
      domain.context.report(AsyncEvent.Type.LAST_WORK_REQUEST_REACHED, this);
    } else {
      Receive flushed = receives.take();
      if (flushed != null) {
        int status = CompletionStatus.FLUSHED.ordinal();
        receiveCompletions.add(
            new Completion(
                this, flushed.id(), status, RECEIVE, 0, null, false, receives::completed));
      }
    }
  }
}
