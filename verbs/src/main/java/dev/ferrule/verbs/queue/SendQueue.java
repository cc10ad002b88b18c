// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import dev.ferrule.spi.AbstractSender;
import dev.ferrule.spi.LineAllocator;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import dev.ferrule.verbs.VerbsException;
import java.lang.foreign.MemorySegment;

/**
 * The send queue of a connection, its completions, and the memory that is sent from.
 *
 * <p>Work requests are numbered as they are posted, control messages included; {@link SendLedger}
 * keeps what they were. Who waits for a request behind the last signaled one has an empty RDMA
 * WRITE posted, which is signaled, needs nothing of the peer's program, and so flushes the
 * completions.
 *
 * <p><b>Threads:</b> the connection's sender calls most methods; {@link #sendReport}, {@link
 * #probe} and {@link #close} may come from any thread. A lock keeps them apart.
 */
public final class SendQueue {

  private static final System.Logger LOGGER = System.getLogger(SendQueue.class.getName());

  /** How many work requests are posted at a time, at most. */
  public static final int MAX_CHAIN = 64;

  /** There is no room. */
  public static final int FULL = AbstractSender.FULL;

  /** The message has no bytes, and so takes no lines. */
  public static final int NO_LINES = -1;

  /** From so many bytes on each message is signaled: many of them at once would take too long. */
  private static final int LONG_MESSAGE = 256 << 10;

  /** Of {@link #CONTROL_SENDS}, those that only reports and a goodbye may take up. */
  private static final int RESERVED_SENDS = 4;

  /** Work requests for reports, goodbye and flushes. */
  static final int CONTROL_SENDS = 8;

  /** Work requests that the send queue holds beside messages. */
  public static final int EXTRA_SENDS = CONTROL_SENDS + AccessQueue.SENDS;

  /** Bytes of a line, the unit in which memory is claimed. */
  public static final int LINE = 64;

  private final QueuePair queuePair;
  private final CompletionQueue completions;
  private final SendMemory memory;
  private final SendProtocol protocol;
  private final int unacked;
  private final int inlineMax;
  private final LineAllocator lines;
  private final SendChain chain = new SendChain(MAX_CHAIN);
  private final SendChain controlChain = new SendChain(1);
  private final StagedMessages staged = new StagedMessages();
  private final SpinLock lock = new SpinLock();
  private final Link link;
  private final EventRequest event;

  // All of these under the lock.
  private final SendLedger ledger;
  private final SendFailures failures;
  private final AccessQueue accesses;
  private int reserved; // messages that have room, and are not posted
  private boolean closed;

  /**
   * Takes over a queue.
   *
   * @param parts what the connection is made of
   * @param protocol what may be sent, and how
   */
  SendQueue(Channel.Parts parts, SendProtocol protocol) {
    this.queuePair = parts.queuePair();
    this.completions = parts.sendCompletions();
    this.link = parts.link();
    this.event = new EventRequest(completions, lock);
    this.memory = parts.sendMemory();
    this.protocol = protocol;
    this.unacked = parts.unacked();
    this.inlineMax = parts.inline();
    this.lines = new LineAllocator((int) (memory.messages().byteSize() / LINE));
    this.ledger = new SendLedger(unacked, lines);
    this.failures = new SendFailures(lock, link);
    this.accesses = new AccessQueue(queuePair, this, lock, ledger, failures);
  }

  /**
   * Returns the part of the queue that is for remote memory access.
   *
   * @return always the same object
   */
  public AccessQueue accesses() {
    return accesses;
  }

  /** How many lines a message takes. */
  private static int linesFor(int length) {
    return (length + LINE - 1) / LINE;
  }

  /**
   * Takes room for a message: memory, a work request, and what it needs of the peer.
   *
   * @param length the message's length in bytes
   * @param needsMemory whether it is to be written to this queue's memory
   * @return its first line, or NO_LINES, or FULL
   */
  public int reserve(int length, boolean needsMemory) {
    int result;
    lock.lock();
    try {
      result = tryReserve(length, needsMemory);
      if (result == FULL) {
        poll();
        result = tryReserve(length, needsMemory);
      }
      if (result == FULL && !ledger.isCompletionDue()) {
        signalLast(Long.MAX_VALUE); // or what would make room might never be heard of
      }
    } finally {
      lock.unlock();
    }
    failures.report();
    if (result == FULL) {
      sendReport(); // it may say that room is wanted
    }
    return result;
  }

  private int tryReserve(int length, boolean needsMemory) {
    if (closed || reserved + ledger.unacknowledged() >= unacked || !protocol.tryReserve(length)) {
      return FULL;
    }
    int line = NO_LINES;
    if (length > 0 && needsMemory) {
      line = lines.allocate(linesFor(length), Integer.MAX_VALUE);
      if (line == LineAllocator.NONE) {
        protocol.unreserve(length);
        return FULL;
      }
    }
    reserved++;
    return line;
  }

  /**
   * Tells whether anything is under way that could make room.
   *
   * @return false if all room is reserved on this side
   */
  public boolean isAnythingOut() {
    lock.lock();
    try {
      return ledger.unacknowledged() != 0 || !protocol.isAllBack();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Gives back what {@link #reserve} took.
   *
   * @param line what it returned
   * @param length for how many bytes
   */
  public void unreserve(int line, int length) {
    lock.lock();
    try {
      reserved--;
      protocol.unreserve(length);
      if (line >= 0) {
        lines.release(line);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Stages a message in this queue's memory.
   *
   * @param line what {@link #reserve} returned
   * @param reservedLength for how many bytes
   * @param length the message's length in bytes, no more than that
   * @return whether more can be staged before {@link #publish}
   */
  public boolean stage(int line, int reservedLength, int length) {
    long address = memory.messages().address() + Math.max(line, 0) * (long) LINE;
    return staged.add(line, address, reservedLength, length, memory.localKey());
  }

  /**
   * Stages a message in memory of the program's own, for which there is room.
   *
   * @param address where it starts
   * @param length its length in bytes, which was reserved
   * @param key the memory's key
   * @return whether more can be staged before {@link #publish}
   */
  public boolean stageRegistered(long address, int length, int key) {
    return staged.add(NO_LINES, address, length, length, key);
  }

  /**
   * Returns how many messages are staged.
   *
   * @return the number
   */
  public int staged() {
    return staged.count();
  }

  /**
   * Posts what is staged, with one doorbell.
   *
   * @return whether the device has taken it; if not, the connection has ended
   */
  public boolean publish() {
    boolean taken = true;
    lock.lock();
    try {
      if (staged.count() > 0) {
        taken = !closed && post();
      }
      staged.clear();
    } finally {
      lock.unlock();
    }
    failures.report();
    return taken;
  }

  private boolean post() {
    SendOperation operation = protocol.messageOperation();
    int count = staged.count();
    for (int i = 0; i < count; i++) {
      int length = staged.length(i);
      long number = ledger.addMessage(staged.line(i), length, length >= LONG_MESSAGE);
      int flags =
          (ledger.isSignaled(number) ? SendChain.SIGNALED : 0)
              | (length <= inlineMax ? SendChain.INLINE : 0);
      chain.set(i, operation, number, staged.address(i), length, staged.key(i), flags);
      protocol.prepare(chain, i, staged.reservedLength(i), length);
    }
    int result = queuePair.post(chain, 0, count);
    failures.posted(result);
    reserved -= count;
    return result >= 0;
  }

  /**
   * Returns the id of the message that was staged or posted last.
   *
   * @return the id; ids count from 1
   */
  public long lastId() {
    return ledger.sent() + staged.count();
  }

  /**
   * Tells whether a message was acknowledged by the peer's device, looking for completions if need
   * be.
   *
   * @param id its id, of a message that is posted
   * @return whether it was
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

  /** Sees to it that there will be a completion for a message, or for the last one. */
  private void signalLast(long id) {
    if (!closed
        && !failures.isFailed()
        && !ledger.isSignaledFor(id)
        && ledger.controlsPosted() < CONTROL_SENDS - RESERVED_SENDS) {
      postFlush();
    }
  }

  /** Whether anything can be posted; under the lock. */
  boolean isUsable() {
    return !closed && !failures.isFailed();
  }

  /** Looks for completions; under the lock. */
  void poll() {
    int count = closed ? 0 : completions.poll(CompletionQueue.BATCH);
    while (count > 0) {
      for (int i = 0; i < count; i++) {
        if (completions.isSuccess(i)) {
          ledger.retire(completions.workRequestId(i));
        } else if (!failures.isFailed()) {
          failures.completed(completions.status(i), completions.vendorError(i));
        }
      }
      count = count == CompletionQueue.BATCH ? completions.poll(CompletionQueue.BATCH) : 0;
    }
  }

  /** Posts an empty request, which only flushes the completions. */
  private void postFlush() {
    controlChain.set(0, SendOperation.RDMA_WRITE, ledger.addControl(), 0, 0, 0, SendChain.SIGNALED);
    controlChain.setRemote(0, 0, 0);
    failures.posted(queuePair.post(controlChain, 0, 1));
  }

  private void postReport() {
    long offset = memory.controlOffset(ledger.nextControlSlot());
    postControl(offset, protocol.prepareReport(controlChain, 0, memory.all(), offset));
  }

  private void postGoodbye() {
    long offset = memory.controlOffset(ledger.nextControlSlot());
    postControl(offset, protocol.prepareGoodbye(controlChain, 0, memory.all(), offset));
  }

  /** Posts a control message, whose other half the protocol has prepared. */
  private void postControl(long offset, int length) {
    int flags = SendChain.SIGNALED | (length > 0 && length <= inlineMax ? SendChain.INLINE : 0);
    controlChain.set(
        0,
        protocol.controlOperation(),
        ledger.addControl(),
        length == 0 ? 0 : memory.all().address() + offset,
        length,
        length == 0 ? 0 : memory.localKey(),
        flags);
    failures.posted(queuePair.post(controlChain, 0, 1));
  }

  /**
   * Reports to the peer what this side has room for, if it is time to.
   *
   * @return whether the peer was told
   */
  boolean sendReport() {
    return protocol.isReportDue() && sendReport(false);
  }

  /**
   * Reports to the peer whatever this side has room for that it does not know of.
   *
   * @return whether the peer was told
   */
  boolean sendOwedReport() {
    return protocol.isReportOwed() && sendReport(true);
  }

  /**
   * Tells whether there is something to report that the peer is not ready to take, as far as this
   * side has heard.
   *
   * @return whether there is
   */
  boolean isReportHeldUp() {
    if (!protocol.isReportOwed()) {
      return false;
    }
    lock.lock();
    try {
      return !protocol.mayReport();
    } finally {
      lock.unlock();
    }
  }

  private boolean sendReport(boolean early) {
    boolean done = false;
    lock.lock();
    try {
      boolean due = early ? protocol.isReportOwed() : protocol.isReportDue();
      if (due && !closed && !failures.isFailed() && protocol.mayReport()) {
        if (ledger.controlsPosted() >= CONTROL_SENDS) {
          poll();
        }
        if (ledger.controlsPosted() < CONTROL_SENDS) {
          postReport();
          done = true;
        }
      }
    } finally {
      lock.unlock();
    }
    failures.report();
    return done;
  }

  /**
   * Says goodbye to the peer.
   *
   * @return whether that was posted
   */
  public boolean sayGoodbye() {
    boolean done = false;
    lock.lock();
    try {
      poll();
      if (!closed
          && !failures.isFailed()
          && protocol.saysGoodbye()
          && ledger.controlsPosted() < CONTROL_SENDS) {
        postGoodbye();
        done = true;
      }
    } finally {
      lock.unlock();
    }
    return done;
  }

  /**
   * Tells whether a peer says goodbye before it disconnects.
   *
   * @return whether it does, unless it is gone
   */
  public boolean saysGoodbye() {
    return protocol.saysGoodbye();
  }

  /**
   * Looks whether everything that was posted is acknowledged.
   *
   * @return whether it is, or never will be
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
   * Returns whether everything that was posted is acknowledged, as far as was polled.
   *
   * @return whether it is; false as well if a work request has failed
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
   * Makes sure that the peer's host is heard of: unless something is under way anyway, an empty
   * request is, which fails if that host does not answer.
   */
  public void probe() {
    lock.lock();
    try {
      poll();
      ledger.probe();
      if (!closed && !failures.isFailed() && ledger.isAllRetired()) {
        postFlush();
      } else {
        signalLast(Long.MAX_VALUE); // or nothing might ever be heard of it
      }
    } finally {
      lock.unlock();
    }
    failures.report();
  }

  /**
   * Tells whether nothing was acknowledged for longer than a peer that lives would take, the time
   * included that the bytes under way may need.
   *
   * @param probes for how many {@link #probe probes} in a row that may be, the first one not
   *     counted, with nothing but short messages under way
   * @param probeNanos how far apart probes are
   * @return whether the peer is to be given up
   */
  public boolean isStalled(int probes, long probeNanos) {
    lock.lock();
    try {
      return ledger.isStalled(probes, probeNanos);
    } finally {
      lock.unlock();
    }
  }

  /** Asks for an event when the next completion comes. */
  public void arm() {
    event.make();
  }

  /** Acts on an event that was asked for: wakes the threads that wait for completions. */
  public void onEvent() {
    event.used();
    link.onProgress();
  }

  /** Looks for completions, and for failures among them. */
  public void look() {
    lock.lock();
    try {
      poll();
    } finally {
      lock.unlock();
    }
    failures.report();
  }

  /** Puts the queue pair into the error state, so that the peer can send nothing more. */
  public void abort() {
    lock.lock();
    try {
      if (!closed) {
        queuePair.toError();
      }
    } catch (VerbsException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "the device is gone, or broken", e);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns up to how many bytes messages ride inline.
   *
   * @return the number; below 0 none do
   */
  public int inlineMax() {
    return inlineMax;
  }

  /** Posts and polls no more, so that the queue pair can be destroyed. */
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
   * Returns the memory that messages are sent from.
   *
   * @return a segment that lives as long as the connection
   */
  public MemorySegment memory() {
    return memory.messages();
  }
}
