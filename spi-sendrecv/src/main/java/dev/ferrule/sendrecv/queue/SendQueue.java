// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.sendrecv.wire.Immediate;
import dev.ferrule.spi.AbstractSender;
import dev.ferrule.spi.LineAllocator;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import dev.ferrule.verbs.VerbsException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The send queue of a connection, its completions, and the memory that is sent from.
 *
 * <p>Work requests are numbered as they are posted, control messages included. Only every few of
 * them are signaled; one completion retires all before it, for a queue pair completes in order. Who
 * waits for a request behind the last signaled one has an empty RDMA WRITE posted, which is
 * signaled, needs nothing of the peer's program, and so flushes the completions.
 *
 * <p><b>Threads:</b> the connection's sender calls most methods; {@link #grant}, {@link #probe} and
 * {@link #close} may come from any thread. A lock keeps them apart.
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

  /** Of {@link #CONTROL_SENDS}, those that only grants and a goodbye may take up. */
  private static final int RESERVED_SENDS = 4;

  /** Work requests that the send queue holds beside messages: grants, goodbye, flushes. */
  public static final int CONTROL_SENDS = 8;

  /** Bytes of a line, the unit in which memory is claimed. */
  public static final int LINE = 64;

  private static final long CONTROL = 0; // in place of a message's id

  private final QueuePair queuePair;
  private final CompletionQueue completions;
  private final MemoryRegion memory;
  private final Window window;
  private final Link link;
  private final int unacked;
  private final int inlineMax;
  private final int signalInterval;
  private final LineAllocator lines;
  private final SendChain chain = new SendChain(MAX_CHAIN);
  private final SendChain controlChain = new SendChain(1);
  private final SpinLock lock = new SpinLock();
  private final int mask;
  private final long[] ids; // by number of the work request
  private final int[] firstLines; // by number of the work request

  // What is staged: handed over by the program, and not posted.
  private final long[] stagedAddresses = new long[MAX_CHAIN];
  private final int[] stagedLengths = new int[MAX_CHAIN];
  private final int[] stagedKeys = new int[MAX_CHAIN];
  private final int[] stagedLines = new int[MAX_CHAIN];
  private int staged;

  // All of these under the lock.
  private int reserved; // messages that have room, and are not posted
  private long sent; // messages posted, ever
  private long posted; // work requests posted, ever
  private long retired; // work requests completed, ever
  private long lastSignaled; // the last work request that makes a completion
  private long lastSignaledId;
  private long retiredMessages;
  private int controlsPosted; // and not retired
  private long probedRetired; // the last probe's
  private int stalledProbes;
  private boolean closed;
  private boolean failed;
  private CompletionStatus failure = CompletionStatus.SUCCESS;
  private int vendorError;
  private int postError;

  private final AtomicLong completedId = new AtomicLong();

  /**
   * Takes over a queue.
   *
   * @param queuePair the queue pair, connected or about to be
   * @param completions where its sends complete
   * @param memory what messages are sent from
   * @param window the credits
   * @param link the connection
   * @param unacked how many messages may be unacknowledged
   * @param inline up to how many bytes messages ride inline; below 0 none do
   */
  SendQueue(
      QueuePair queuePair,
      CompletionQueue completions,
      MemoryRegion memory,
      Window window,
      Link link,
      int unacked,
      int inline) {
    this.queuePair = queuePair;
    this.completions = completions;
    this.memory = memory;
    this.window = window;
    this.link = link;
    this.unacked = unacked;
    this.inlineMax = inline;
    this.signalInterval = Math.clamp(unacked / 4, 1, 16);
    this.lines = new LineAllocator((int) (memory.segment().byteSize() / LINE));
    int slots = Integer.highestOneBit(2 * (unacked + CONTROL_SENDS) - 1);
    this.mask = slots - 1;
    this.ids = new long[slots];
    this.firstLines = new int[slots];
  }

  /**
   * Returns how many lines a message takes.
   *
   * @param length its length in bytes
   * @return the number of lines
   */
  static int linesFor(int length) {
    return (length + LINE - 1) / LINE;
  }

  /**
   * Takes room for a message: memory, a work request, a credit.
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
      if (result == FULL && lastSignaled <= retired) {
        signalLast(Long.MAX_VALUE); // or what would make room might never be heard of
      }
    } finally {
      lock.unlock();
    }
    report();
    return result;
  }

  private int tryReserve(int length, boolean needsMemory) {
    if (closed
        || reserved + sent - retiredMessages >= unacked
        || sent + reserved >= window.grantedByPeer()) {
      return FULL;
    }
    if (length == 0 || !needsMemory) {
      reserved++;
      return NO_LINES;
    }
    int line = lines.allocate(linesFor(length), Integer.MAX_VALUE);
    if (line == LineAllocator.NONE) {
      return FULL;
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
      return sent != retiredMessages || !window.isAllBack(sent);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Gives back what {@link #reserve} took.
   *
   * @param line what it returned
   */
  public void unreserve(int line) {
    lock.lock();
    try {
      reserved--;
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
   * @param length the message's length in bytes
   * @return whether more can be staged before {@link #publish}
   */
  public boolean stage(int line, int length) {
    long address = memory.segment().address() + Math.max(line, 0) * (long) LINE;
    return stage(line, address, length, memory.localKey());
  }

  /**
   * Stages a message in memory of the program's own.
   *
   * @param address where it starts
   * @param length its length in bytes
   * @param key the memory's key
   * @return whether more can be staged before {@link #publish}
   */
  public boolean stage(long address, int length, int key) {
    return stage(NO_LINES, address, length, key);
  }

  private boolean stage(int line, long address, int length, int key) {
    stagedAddresses[staged] = address;
    stagedLengths[staged] = length;
    stagedKeys[staged] = key;
    stagedLines[staged] = line;
    staged++;
    return staged < MAX_CHAIN;
  }

  /**
   * Returns how many messages are staged.
   *
   * @return the number
   */
  public int staged() {
    return staged;
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
      if (staged > 0) {
        taken = !closed && post();
      }
      staged = 0;
    } finally {
      lock.unlock();
    }
    report();
    return taken;
  }

  private boolean post() {
    int immediate = window.immediate(Immediate.MESSAGE);
    SendOperation operation =
        window.plain() ? SendOperation.SEND : SendOperation.SEND_WITH_IMMEDIATE;
    for (int i = 0; i < staged; i++) {
      long number = posted + 1 + i;
      int length = stagedLengths[i];
      boolean signaled = number - lastSignaled >= signalInterval || length >= LONG_MESSAGE;
      int flags =
          (signaled ? SendChain.SIGNALED : 0) | (length <= inlineMax ? SendChain.INLINE : 0);
      chain.set(i, operation, number, stagedAddresses[i], length, stagedKeys[i], flags);
      chain.setImmediate(i, immediate);
      int slot = (int) number & mask;
      ids[slot] = sent + 1 + i;
      firstLines[slot] = stagedLines[i];
      if (signaled) {
        lastSignaled = number;
        lastSignaledId = sent + 1 + i;
      }
    }
    int result = queuePair.post(chain, 0, staged);
    if (result < 0) {
      postError = -result;
    }
    posted += staged;
    sent += staged;
    reserved -= staged;
    return result >= 0;
  }

  /**
   * Returns the id of the message that was staged or posted last.
   *
   * @return the id; ids count from 1
   */
  public long lastId() {
    return sent + staged;
  }

  /**
   * Tells whether a message was acknowledged by the peer's device, looking for completions if need
   * be.
   *
   * @param id its id, of a message that is posted
   * @return whether it was
   */
  public boolean isComplete(long id) {
    if (id <= completedId.getAcquire()) {
      return true;
    }
    lock.lock();
    try {
      poll();
      if (id > completedId.getPlain()) {
        signalLast(id);
      }
    } finally {
      lock.unlock();
    }
    report();
    return id <= completedId.getAcquire();
  }

  /** Sees to it that there will be a completion for a message, or for the last one. */
  private void signalLast(long id) {
    if (!closed
        && !failed
        && lastSignaledId < Math.min(id, sent)
        && controlsPosted < CONTROL_SENDS - RESERVED_SENDS) {
      postControl(SendOperation.RDMA_WRITE, 0);
      lastSignaledId = sent;
    }
  }

  /** Looks for completions; under the lock. */
  private void poll() {
    int count = closed ? 0 : completions.poll(CompletionQueue.BATCH);
    while (count > 0) {
      for (int i = 0; i < count; i++) {
        if (completions.isSuccess(i)) {
          retire(completions.workRequestId(i));
        } else if (!failed) {
          failed = true;
          failure = completions.status(i);
          vendorError = completions.vendorError(i);
        }
      }
      count = count == CompletionQueue.BATCH ? completions.poll(CompletionQueue.BATCH) : 0;
    }
  }

  private void retire(long number) {
    for (long n = retired + 1; n <= number; n++) {
      int slot = (int) n & mask;
      if (ids[slot] == CONTROL) {
        controlsPosted--;
      } else {
        completedId.setRelease(ids[slot]);
        retiredMessages++;
        if (firstLines[slot] >= 0) {
          lines.release(firstLines[slot]);
        }
      }
    }
    retired = Math.max(retired, number);
  }

  private void postControl(SendOperation operation, int immediate) {
    long number = ++posted;
    controlChain.set(0, operation, number, 0, 0, 0, SendChain.SIGNALED);
    controlChain.setImmediate(0, immediate);
    controlChain.setRemote(0, 0, 0);
    ids[(int) number & mask] = CONTROL;
    controlsPosted++;
    lastSignaled = number;
    int result = queuePair.post(controlChain, 0, 1);
    if (result < 0) {
      postError = -result;
    }
  }

  /**
   * Grants what the peer may be granted, if it is time to.
   *
   * @return whether the peer was told
   */
  boolean grant() {
    if (!window.isGrantDue()) {
      return false;
    }
    boolean done = false;
    lock.lock();
    try {
      if (!closed && !failed && window.isGrantDue() && window.mayGrant()) {
        if (controlsPosted >= CONTROL_SENDS) {
          poll();
        }
        if (controlsPosted < CONTROL_SENDS) {
          postControl(SendOperation.SEND_WITH_IMMEDIATE, window.immediate(Immediate.GRANT));
          lastSignaledId = sent;
          done = true;
        }
      }
    } finally {
      lock.unlock();
    }
    report();
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
      if (!closed && !failed && !window.plain() && controlsPosted < CONTROL_SENDS) {
        postControl(SendOperation.SEND_WITH_IMMEDIATE, window.immediate(Immediate.GOODBYE));
        lastSignaledId = sent;
        done = true;
      }
    } finally {
      lock.unlock();
    }
    return done;
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
      return closed || failed || retired == posted;
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
      stalledProbes = retired != posted && retired == probedRetired ? stalledProbes + 1 : 0;
      probedRetired = retired;
      if (!closed && !failed && retired == posted) {
        postControl(SendOperation.RDMA_WRITE, 0);
        lastSignaledId = sent;
      } else {
        signalLast(Long.MAX_VALUE); // or nothing might ever be heard of it
      }
    } finally {
      lock.unlock();
    }
    report();
  }

  /**
   * Tells for how many {@link #probe probes} nothing has been acknowledged of what was under way.
   *
   * @return the number of probes, the first one not counted
   */
  public int stalledProbes() {
    lock.lock();
    try {
      return stalledProbes;
    } finally {
      lock.unlock();
    }
  }

  /** Asks for an event when the next completion comes. */
  public void arm() {
    lock.lock();
    try {
      if (!closed) {
        completions.requestNotification();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Looks for completions, and for failures among them. */
  public void look() {
    lock.lock();
    try {
      poll();
    } finally {
      lock.unlock();
    }
    report();
  }

  /** Tells the connection what went wrong; not under the lock, for that may do anything. */
  private void report() {
    if (failure == CompletionStatus.SUCCESS && postError == 0) {
      return;
    }
    CompletionStatus status;
    int error;
    lock.lock();
    try {
      status = failure;
      failure = CompletionStatus.SUCCESS;
      error = postError;
      postError = 0;
    } finally {
      lock.unlock();
    }
    if (status != CompletionStatus.SUCCESS) {
      link.onFailure(status, vendorError);
    } else if (error != 0) {
      link.onPostFailure("ibv_post_send", error);
    }
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
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the memory that messages are sent from.
   *
   * @return the registered memory
   */
  public MemoryRegion memory() {
    return memory;
  }
}
