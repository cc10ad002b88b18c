// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.support.AbstractSender;
import dev.ferrule.support.LineAllocator;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.VerbsException;
import java.lang.foreign.MemorySegment;

/**
 * The send queue of a connection, with its completion queue and its send memory. The connection's
 * senders share it; each has an {@link Outbox}.
 *
 * <p>Work requests, including control messages, are numbered in posting order; {@link SendLedger}
 * records them. An unsignaled request is awaited by posting a signaled zero-length RDMA WRITE
 * behind it, which does not involve the peer's program.
 *
 * <p><b>Threads:</b> any thread may call. A lock protects the state; a sender that waits for space
 * does not hold it.
 */
public final class SendQueue {

  private static final System.Logger LOGGER = System.getLogger(SendQueue.class.getName());

  /** The maximum number of work requests posted at a time. */
  public static final int MAX_CHAIN = 64;

  /** The result of {@link Outbox#reserve} if there is no space. */
  public static final int FULL = AbstractSender.FULL;

  /**
   * The result of {@link Outbox#reserve} if the sender itself holds all space, so that none becomes
   * free before it sends or releases something.
   */
  public static final int HELD = FULL - 1;

  /** The result of {@link Outbox#trySend} if posting failed: the connection has ended. */
  public static final int FAILED = HELD - 1;

  /** The place of a message that needs no memory of the queue or of an outbox. */
  public static final int NO_LINES = -1;

  /**
   * The length from which each message is signaled: one completion for several long messages would
   * take too long.
   */
  private static final int LONG_MESSAGE = 256 << 10;

  /** The work requests in the send queue in addition to messages. */
  public static final int EXTRA_SENDS = ControlMessages.SENDS + OneSidedOperations.SENDS;

  /** The size of a line in bytes, the unit of allocation. */
  public static final int LINE = 64;

  private final QueuePair queuePair;
  private final CompletionQueue completions;
  private final SendMemory memory;
  private final SendProtocol protocol;
  private final int unacked;
  private final int inlineMax;
  private final LineAllocator lines;
  private final SpinLock lock = new SpinLock();
  private final QueueCallbacks callbacks;
  private final EventRequest event;

  // All of these are guarded by the lock.
  private final SendLedger ledger;
  private final SendFailures failures;
  private final ControlMessages controls;
  private final OneSidedOperations accesses;
  private long reserved; // messages of all senders in total, excluding released ones
  private int outboxes;
  private boolean roomAwaited; // whether a sender may wait for space that another one holds
  private boolean closed;

  /**
   * Creates a queue.
   *
   * @param parts the parts of the connection
   * @param protocol the sending half of the protocol
   */
  SendQueue(Channel.Parts parts, SendProtocol protocol) {
    this.queuePair = parts.queuePair();
    this.completions = parts.sendCompletions();
    this.callbacks = parts.callbacks();
    this.event = new EventRequest(completions, lock);
    this.memory = parts.sendMemory();
    this.protocol = protocol;
    this.unacked = parts.unacked();
    this.inlineMax = parts.inline();
    this.lines = new LineAllocator((int) (memory.messages().byteSize() / LINE));
    this.ledger = new SendLedger(unacked, lines);
    this.failures = new SendFailures(lock, callbacks);
    this.controls = new ControlMessages(parts, protocol, this, lock, ledger, failures);
    this.accesses = new OneSidedOperations(queuePair, this, lock, ledger, failures);
  }

  /**
   * Returns the part of the queue for control messages.
   *
   * @return always the same object
   */
  public ControlMessages controls() {
    return controls;
  }

  /**
   * Returns the part of the queue for remote memory access.
   *
   * @return always the same object
   */
  public OneSidedOperations accesses() {
    return accesses;
  }

  /** Returns the number of lines of a message. */
  private static int linesFor(int length) {
    return (length + LINE - 1) / LINE;
  }

  /**
   * Creates the outbox of a sender.
   *
   * @return an empty outbox, to be closed
   */
  public Outbox newOutbox() {
    Outbox outbox = new Outbox(this, protocol.messageOperation(), unacked, inlineMax);
    lock.lock();
    try {
      outboxes++;
    } finally {
      lock.unlock();
    }
    return outbox;
  }

  void closeOutbox() {
    lock.lock();
    try {
      outboxes--;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Reserves space for a message of a sender, and lines for some of its bytes or none; see {@link
   * Outbox#reserve}.
   */
  int reserve(Outbox sender, int length, int lineBytes) {
    int result;
    boolean awaited = false;
    lock.lock();
    try {
      result = tryReserve(sender, length, lineBytes);
      if (result == FULL) {
        poll();
        awaited = roomAwaited && sender.spare() > 0;
        roomAwaited &= !awaited;
        giveBackSpare(sender);
        result = tryReserve(sender, length, lineBytes);
      }
      if (result == FULL) {
        result = findCause(sender, length, lineBytes);
      } else if (lineBytes == 0 && length > 0 && length <= inlineMax && sender.spare() == 0) {
        reserveSpare(sender, length);
      }
    } finally {
      lock.unlock();
    }
    failures.report();
    if (awaited) {
      callbacks.onRoom();
    }
    if (result <= FULL) {
      controls.sendReport(); // it may request buffer space
    }
    return result;
  }

  /**
   * Reserves space for further messages of the sender's current batch, which then need no lock. It
   * reserves as many as are staged, so a batch holds at most twice the space that it uses. If there
   * are other senders, reserves none: they may need that space before this one sends.
   */
  private void reserveSpare(Outbox sender, int length) {
    if (outboxes > 1) {
      return;
    }
    int most = Math.min(sender.staged(), MAX_CHAIN - 1 - sender.staged());
    most = (int) Math.min(most, unacked - (reserved - ledger.retiredMessages()));
    most = (int) Math.min(most, protocol.maxClaimed() - sender.claimed());
    int count = most > 0 ? protocol.reserveAhead(length, most) : 0;
    reserved += count;
    sender.addReserved(count);
    sender.setSpare(count, length);
  }

  private void giveBackSpare(Outbox sender) {
    int count = sender.spare();
    if (count > 0) {
      reserved -= count;
      sender.addReserved(-count);
      protocol.unreserve(sender.spareLength(), count);
      sender.setSpare(0, 0);
    }
  }

  /** Returns the result of a reservation that has found no space. */
  private int findCause(Outbox sender, int length, int lineBytes) {
    if (!ledger.isCompletionDue()) {
      signalLast(Long.MAX_VALUE); // otherwise no completion would ever free space
    }
    if (isAnythingOut(sender)) {
      return FULL;
    }
    // the peer may have returned everything after the last attempt
    int result = tryReserve(sender, length, lineBytes);
    return result == FULL ? HELD : result;
  }

  private int tryReserve(Outbox sender, int length, int lineBytes) {
    if (!hasRequest(sender) || !protocol.tryReserve(length)) {
      return FULL;
    }
    int line = NO_LINES;
    if (lineBytes > 0) {
      line = lines.allocate(linesFor(lineBytes), Integer.MAX_VALUE);
      if (line == LineAllocator.NONE) {
        protocol.unreserve(length, 1);
        return FULL;
      }
    }
    reserved++;
    sender.addReserved(1);
    return line;
  }

  /** Returns whether a sender may reserve another work request. */
  private boolean hasRequest(Outbox sender) {
    return !closed && reserved - ledger.retiredMessages() < unacked && !isClaimLimitReached(sender);
  }

  private boolean isClaimLimitReached(Outbox sender) {
    return sender.claimed() + sender.spare() >= protocol.maxClaimed();
  }

  /** Returns whether the peer or another sender can free space for a sender. */
  private boolean isAnythingOut(Outbox sender) {
    return !isClaimLimitReached(sender)
        && (ledger.unacknowledged() != 0
            || reserved - ledger.sent() != sender.held()
            || !protocol.isAllBack());
  }

  /** Releases the space of a sender's reservation; see {@link Outbox#unreserve}. */
  void unreserve(Outbox sender, int line, int length) {
    boolean awaited;
    lock.lock();
    try {
      reserved--;
      sender.addReserved(-1);
      protocol.unreserve(length, 1);
      if (line >= 0) {
        lines.release(line);
      }
      awaited = roomAwaited;
      roomAwaited = false; // a thread that is woken and finds no space arms again
    } finally {
      lock.unlock();
    }
    if (awaited) {
      callbacks.onRoom();
    }
  }

  /** Returns the address of the send memory. */
  long memoryAddress() {
    return memory.messages().address();
  }

  /** Returns the local key of the send memory. */
  int memoryKey() {
    return memory.localKey();
  }

  /** Posts the staged messages of a sender; see {@link Outbox#publish}. */
  boolean publish(Outbox sender) {
    boolean taken = true;
    int result = 0;
    boolean awaited = false;
    lock.lock();
    try {
      if (sender.staged() > 0) {
        awaited = endsWait(sender.spare() > 0);
        taken = !closed;
        result = taken ? post(sender) : 0;
        giveBackSpare(sender);
      }
    } finally {
      lock.unlock();
    }
    reportPost(result);
    if (awaited) {
      callbacks.onRoom();
    }
    return taken && result >= 0;
  }

  /**
   * Reports failures. The failure of a sender's post is reported by the sender's own thread, which
   * throws the reason: if another thread were about to report it, the connection might not have
   * ended yet.
   */
  private void reportPost(int result) {
    failures.report();
    if (result < 0) {
      callbacks.onCallFailure("ibv_post_send", -result);
    }
  }

  /**
   * Reserves space for the only staged message of a sender, and posts it, under one acquisition of
   * the lock.
   */
  int tryPublish(Outbox sender, int length) {
    int result;
    boolean awaited;
    lock.lock();
    try {
      if (!hasRequest(sender) || !protocol.tryReserve(length)) {
        return FULL;
      }
      reserved++;
      sender.addReserved(1);
      awaited = endsWait(false);
      result = post(sender);
    } finally {
      lock.unlock();
    }
    reportPost(result);
    if (awaited) {
      callbacks.onRoom();
    }
    return result < 0 ? FAILED : 0;
  }

  /**
   * Returns whether a post must wake threads that wait for space. If nothing was outstanding
   * before, they have waited for claims of other senders, and must now wait for completions.
   */
  private boolean endsWait(boolean releasesSpace) {
    boolean awaited = roomAwaited && (releasesSpace || ledger.unacknowledged() == 0);
    roomAwaited &= !awaited;
    return awaited;
  }

  /** Posts the staged messages; returns the result, which {@link #reportPost} reports. */
  private int post(Outbox sender) {
    SendChain chain = sender.chain();
    int count = sender.staged();
    for (int i = 0; i < count; i++) {
      int length = sender.length(i);
      long number = ledger.addMessage(sender.line(i), length, length >= LONG_MESSAGE);
      sender.addPosted(ledger.sent());
      chain.setId(i, number, ledger.isSignaled(number) ? SendChain.SIGNALED : 0);
      protocol.prepare(chain, i, sender.reservedLength(i), length);
    }
    return queuePair.post(chain, 0, count);
  }

  /**
   * Returns whether the peer's device has acknowledged a message. Polls for completions if
   * necessary.
   *
   * @param id the id of a posted message, which counts those of all senders from 1
   * @return whether it has
   */
  public boolean isComplete(long id) {
    if (id <= ledger.completedId()) {
      return true;
    }
    lock.lock();
    try {
      poll();
      if (id > ledger.completedId()) {
        signalLast(id);
      }
    } finally {
      lock.unlock();
    }
    failures.report();
    return id <= ledger.completedId();
  }

  /**
   * Ensures that a completion will retire a message, or the last message if the id is beyond it.
   */
  private void signalLast(long id) {
    if (!closed
        && !failures.isFailed()
        && !ledger.isSignaledFor(id)
        && controls.mayPostEmptyWrite()) {
      controls.postEmptyWrite();
    }
  }

  /** Returns whether requests can be posted; under the lock. */
  boolean isUsable() {
    return !closed && !failures.isFailed();
  }

  /** Polls for completions; under the lock. */
  void poll() {
    int count = closed ? 0 : completions.poll(CompletionQueue.BATCH);
    while (count > 0) {
      for (int i = 0; i < count; i++) {
        if (completions.isSuccess(i)) {
          ledger.retire(completions.workRequestId(i));
        } else if (!failures.isFailed()) {
          boolean access = ledger.isAccess(completions.workRequestId(i));
          failures.completed(completions.status(i), completions.vendorError(i), access);
        }
      }
      count = count == CompletionQueue.BATCH ? completions.poll(CompletionQueue.BATCH) : 0;
    }
  }

  /**
   * Returns whether all posted requests are acknowledged. Polls for completions.
   *
   * @return true if they are, or never will be
   */
  public boolean isDrained() {
    lock.lock();
    try {
      poll();
      signalLast(Long.MAX_VALUE);
      return closed || failures.isFailed() || ledger.isAllRetired();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns whether all posted requests are acknowledged, without polling.
   *
   * @return whether they are; false if a work request has failed
   */
  public boolean isDelivered() {
    lock.lock();
    try {
      return !failures.isFailed() && ledger.isAllRetired();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Probes the peer's host: if no request is outstanding, posts a zero-length RDMA WRITE, which
   * fails if the host does not answer.
   */
  public void probe() {
    lock.lock();
    try {
      poll();
      ledger.probe();
      if (!closed && !failures.isFailed() && ledger.isAllRetired()) {
        controls.postEmptyWrite();
      } else {
        signalLast(Long.MAX_VALUE); // otherwise there might never be a completion
      }
    } finally {
      lock.unlock();
    }
    failures.report();
  }

  /**
   * Returns whether no request has been acknowledged for longer than a live peer needs, including
   * the transfer time of the outstanding bytes.
   *
   * @param probes the number of consecutive {@link #probe probes} without progress that are
   *     tolerated for short messages, not counting the first one
   * @param probeNanos the time between probes
   * @return whether the peer is dead
   */
  public boolean isStalled(int probes, long probeNanos) {
    lock.lock();
    try {
      return ledger.isStalled(probes, probeNanos);
    } finally {
      lock.unlock();
    }
  }

  /** Requests an event at the next completion. */
  public void arm() {
    int errno = event.make();
    if (errno != 0) {
      callbacks.onCallFailure(EventRequest.FUNCTION, errno);
    }
  }

  /**
   * Requests an event at the next completion. Also requests a wake-up when a sender releases space,
   * or posts the first message whose completion will free some.
   */
  void armForRoom() {
    lock.lock();
    try {
      roomAwaited = outboxes > 1;
    } finally {
      lock.unlock();
    }
    arm();
  }

  /** Handles a requested event: wakes the threads that wait for completions. */
  public void onEvent() {
    event.used();
    callbacks.onProgress();
  }

  /**
   * Reports the failed request that has moved the queue pair to the error state, if it is known.
   * Polls for completions.
   *
   * @return whether it is known
   */
  boolean reportCause() {
    pollAndReport();
    return failures.reportCause();
  }

  /** Polls for completions, and reports failures. */
  public void pollAndReport() {
    lock.lock();
    try {
      poll();
    } finally {
      lock.unlock();
    }
    failures.report();
  }

  /** Moves the queue pair to the error state, so that the peer can send nothing more. */
  public void abort() {
    lock.lock();
    try {
      if (!closed) {
        queuePair.toError();
      }
    } catch (VerbsException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "the device failed or is gone", e);
    } finally {
      lock.unlock();
    }
  }

  /** {@return the maximum length of an inline message, in bytes; below 0 no message is inline} */
  public int inlineMax() {
    return inlineMax;
  }

  /** {@return whether a message may consist of two pieces: see {@link Outbox#stageGather}} */
  public boolean gathers() {
    return queuePair.sizes().pieces() >= SendChain.PIECES;
  }

  /** Stops posting and polling, so that the queue pair can be destroyed. */
  public void close() {
    lock.lock();
    try {
      closed = true;
      event.stop();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the send memory for messages.
   *
   * @return a segment; its contents are not sent after the close
   */
  public MemorySegment memory() {
    return memory.messages();
  }
}
