// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The control messages of a send queue: reports of free buffer space, the end of the messages, and
 * a goodbye; and the zero-length WRITEs that are posted behind unsignaled requests to await them.
 *
 * <p><b>Threads:</b> any thread may call. The state is protected by the lock of the queue.
 */
public final class ControlMessages {

  /** The work requests for reports, the end, the goodbye and empty WRITEs. */
  static final int SENDS = 8;

  /** The number of them that is reserved for reports, the end and a goodbye. */
  private static final int RESERVED_SENDS = 4;

  private final QueuePair queuePair;
  private final SendMemory memory;
  private final int inlineMax;
  private final SendProtocol protocol;
  private final SendQueue queue;
  private final SpinLock lock;
  private final SendLedger ledger;
  private final SendFailures failures;
  private final SendChain chain = new SendChain(1);
  private volatile boolean reporting = true; // until either side has sent a goodbye
  private final AtomicLong reports = new AtomicLong();

  /** Whether the end must still be posted. Written under the lock. */
  private volatile boolean endPending;

  ControlMessages(
      Channel.Parts parts,
      SendProtocol protocol,
      SendQueue queue,
      SpinLock lock,
      SendLedger ledger,
      SendFailures failures) {
    this.queuePair = parts.queuePair();
    this.memory = parts.sendMemory();
    this.inlineMax = parts.inline();
    this.protocol = protocol;
    this.queue = queue;
    this.lock = lock;
    this.ledger = ledger;
    this.failures = failures;
  }

  /** Returns whether an empty WRITE may be posted; under the lock. */
  boolean mayPostEmptyWrite() {
    return ledger.controlsPosted() < SENDS - RESERVED_SENDS;
  }

  /**
   * Posts a signaled zero-length RDMA WRITE, whose completion retires the requests before it. Under
   * the lock.
   */
  void postEmptyWrite() {
    chain.set(0, SendOperation.RDMA_WRITE, ledger.addControl(), 0, 0, 0, SendChain.SIGNALED);
    chain.setRemote(0, 0, 0);
    failures.posted(queuePair.post(chain, 0, 1));
  }

  private void postReport() {
    long offset = memory.controlOffset(ledger.nextControlSlot());
    postControl(offset, protocol.prepareReport(chain, 0, memory.all(), offset));
  }

  private void postEnd() {
    long offset = memory.controlOffset(ledger.nextControlSlot());
    postControl(offset, protocol.prepareEnd(chain, 0, memory.all(), offset));
  }

  private void postGoodbye() {
    long offset = memory.controlOffset(ledger.nextControlSlot());
    postControl(offset, protocol.prepareGoodbye(chain, 0, memory.all(), offset));
  }

  /** Posts a control message that the protocol has prepared. */
  private void postControl(long offset, int length) {
    int flags = SendChain.SIGNALED | (length > 0 && length <= inlineMax ? SendChain.INLINE : 0);
    chain.set(
        0,
        protocol.controlOperation(),
        ledger.addControl(),
        length == 0 ? 0 : memory.all().address() + offset,
        length,
        length == 0 ? 0 : memory.localKey(),
        flags);
    failures.posted(queuePair.post(chain, 0, 1));
  }

  /**
   * Sends a report of free buffer space to the peer, if one is due. After a goodbye of either side,
   * no peer needs one.
   */
  void sendReport() {
    if (endPending || protocol.isReportDue()) {
      sendReport(false);
    }
  }

  /**
   * Announces that no further message follows: now, or as soon as the peer is known to be able to
   * receive the announcement. A protocol without control messages sends none. Called once, by any
   * thread, when the last message has been posted.
   */
  public void sendEnd() {
    if (!protocol.saysGoodbye()) {
      return;
    }
    lock.lock();
    try {
      endPending = true;
    } finally {
      lock.unlock();
    }
    sendReport(false);
  }

  /** Sends a report of any unreported free buffer space. */
  void sendPendingReport() {
    if (endPending || protocol.isReportPending()) {
      sendReport(true);
    }
  }

  /** Stops sending reports, as the peer has sent a goodbye. By any thread. */
  void stopReports() {
    reporting = false;
  }

  /** Returns the number of reports that were posted. By any thread. */
  long reports() {
    return reports.get();
  }

  /**
   * {@return whether a report or the end is pending, but the peer is not known to be able to
   * receive it}
   */
  boolean isReportBlocked() {
    if (!reporting || !(endPending || protocol.isReportPending())) {
      return false;
    }
    lock.lock();
    try {
      return !protocol.mayReport();
    } finally {
      lock.unlock();
    }
  }

  private void sendReport(boolean early) {
    lock.lock();
    try {
      boolean due = endPending || (early ? protocol.isReportPending() : protocol.isReportDue());
      if (due && reporting && queue.isUsable() && protocol.mayReport()) {
        if (ledger.controlsPosted() >= SENDS) {
          queue.poll();
        }
        if (ledger.controlsPosted() < SENDS) {
          if (endPending) {
            endPending = false;
            postEnd();
          } else {
            postReport();
            reports.incrementAndGet();
          }
        }
      }
    } finally {
      lock.unlock();
    }
    failures.report();
  }

  /**
   * Posts a goodbye to the peer, the last control message.
   *
   * @return whether it was posted
   */
  public boolean sayGoodbye() {
    boolean done = false;
    lock.lock();
    try {
      queue.poll();
      if (queue.isUsable() && protocol.saysGoodbye() && ledger.controlsPosted() < SENDS) {
        postGoodbye();
        reporting = false;
        done = true;
      }
    } finally {
      lock.unlock();
    }
    return done;
  }

  /**
   * Returns whether the protocol has a goodbye, which a peer sends before it disconnects.
   *
   * @return whether it has; a peer that fails sends none
   */
  public boolean saysGoodbye() {
    return protocol.saysGoodbye();
  }
}
