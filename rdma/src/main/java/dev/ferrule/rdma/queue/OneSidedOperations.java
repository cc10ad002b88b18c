// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import java.util.function.IntConsumer;

/**
 * The part of a send queue for remote memory access. Every request is signaled. Requests have a
 * separate share of the send queue, so requests and messages do not wait for each other's space.
 *
 * <p>The bytes are never sent inline. They are in the program's memory, which may be freed; only
 * the device can read freed memory safely, because the pages are pinned.
 *
 * <p><b>Threads:</b> safe for use by several threads, by the send queue's lock.
 */
public final class OneSidedOperations {

  /** The maximum number of outstanding requests of operations. */
  private static final int PIECES = 32;

  /**
   * The maximum number of outstanding requests for the peer's table, in addition to those of
   * operations.
   */
  public static final int TABLE_REQUESTS = 4;

  /** The work requests in the send queue for remote memory access. */
  static final int SENDS = PIECES + TABLE_REQUESTS;

  /** The result of posting a request. */
  public enum Result {
    /** The request is posted. */
    POSTED,
    /** The queue has no space. */
    FULL,
    /** The peer no longer exposes its memory. */
    GONE,
    /** This side's memory is no longer registered. */
    CLOSED
  }

  /** Memory of this side. */
  public interface Source {

    /** {@return the local key} */
    int localKey();

    /**
     * {@return whether the memory may be used} Called under the queue's lock. A thread that closes
     * the memory takes the lock afterwards, in {@link OneSidedOperations#lastRequest}, and so sees
     * all requests that use the memory.
     */
    boolean isUsable();
  }

  /** Memory of the peer. */
  public interface Target {

    /** {@return the remote key} */
    int remoteKey();

    /**
     * Returns the region of the peer.
     *
     * @return the number that is passed to the action of {@link #onRegionRelease}
     */
    int region();

    /**
     * Prevents the peer from ending the exposure until the region is released. Called under the
     * queue's lock.
     *
     * @return false if the peer has ended the exposure already; then there is nothing to release
     */
    boolean acquire();
  }

  private final QueuePair queuePair;
  private final SendQueue queue;
  private final SpinLock lock;
  private final SendLedger ledger;
  private final SendFailures failures;
  private final SendChain chain = new SendChain(1);
  private boolean fenced; // whether the next request gets a fence; under the lock

  OneSidedOperations(
      QueuePair queuePair,
      SendQueue queue,
      SpinLock lock,
      SendLedger ledger,
      SendFailures failures) {
    this.queuePair = queuePair;
    this.queue = queue;
    this.lock = lock;
    this.ledger = ledger;
    this.failures = failures;
  }

  /**
   * Sets the action that is called with the region of each completed request.
   *
   * @param action called under the lock, so it must not block
   */
  public void onRegionRelease(IntConsumer action) {
    lock.lock();
    try {
      ledger.onRegionRelease(action);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Posts a request of an operation, if there is space and the peer still exposes the memory. Each
   * posted request releases its region once.
   *
   * @param write true for an RDMA WRITE, false for an RDMA READ
   * @param source this side's memory
   * @param address the local address
   * @param target the peer's memory
   * @param offset the remote address
   * @param length the length in bytes; may be 0
   * @param operation the id of the operation if this is its last request; else 0
   * @return the result; POSTED if the connection has ended
   */
  public Result tryPost(
      boolean write,
      Source source,
      long address,
      Target target,
      long offset,
      int length,
      long operation) {
    SendOperation kind = write || length == 0 ? SendOperation.RDMA_WRITE : SendOperation.RDMA_READ;
    return tryPost(kind, source, address, target, offset, length, 0, 0, operation);
  }

  /**
   * Posts an atomic operation, if there is space and the peer still exposes the memory; otherwise
   * like {@link #tryPost}.
   *
   * @param swap true to compare and swap, false to add
   * @param source this side's memory, which gets the previous value
   * @param address the local address
   * @param target the peer's memory
   * @param offset the remote address, a multiple of 8
   * @param operand the number to add, or the expected value
   * @param desired the value to set; ignored to add
   * @param operation the id of the operation
   * @return the result; POSTED if the connection has ended
   */
  public Result tryPostAtomic(
      boolean swap,
      Source source,
      long address,
      Target target,
      long offset,
      long operand,
      long desired,
      long operation) {
    SendOperation kind = swap ? SendOperation.COMPARE_AND_SWAP : SendOperation.FETCH_AND_ADD;
    return tryPost(kind, source, address, target, offset, Long.BYTES, operand, desired, operation);
  }

  private Result tryPost(
      SendOperation kind,
      Source source,
      long address,
      Target target,
      long offset,
      int length,
      long operand,
      long desired,
      long operation) {
    Result result;
    lock.lock();
    try {
      if (ledger.accessesPosted() >= PIECES) {
        queue.poll();
      }
      result = ledger.accessesPosted() >= PIECES ? Result.FULL : Result.POSTED;
      if (result == Result.POSTED && queue.isUsable()) {
        if (!source.isUsable()) {
          result = Result.CLOSED;
        } else if (target.acquire()) {
          long number = ledger.addAccess(target.region(), length, operation);
          int flags = SendChain.SIGNALED | (fenced ? SendChain.FENCE : 0);
          fenced = false;
          if (length == 0) {
            chain.set(0, kind, number, 0, 0, 0, flags);
            chain.setRemote(0, 0, 0);
          } else {
            chain.set(0, kind, number, address, length, source.localKey(), flags);
            if (kind == SendOperation.RDMA_WRITE || kind == SendOperation.RDMA_READ) {
              chain.setRemote(0, offset, target.remoteKey());
            } else {
              chain.setAtomic(0, offset, target.remoteKey(), operand, desired);
            }
          }
          failures.posted(queuePair.post(chain, 0, 1));
        } else {
          result = Result.GONE;
        }
      }
    } finally {
      lock.unlock();
    }
    failures.report();
    return result;
  }

  /**
   * {@return the number of requests of operations that can be posted now} Requests for the peer's
   * table do not reduce it; only posting requests of operations does. Polls for completions.
   */
  public int free() {
    int outstanding;
    lock.lock();
    try {
      queue.poll();
      outstanding = ledger.accessesPosted();
    } finally {
      lock.unlock();
    }
    failures.report();
    return Math.max(0, PIECES - TABLE_REQUESTS - outstanding);
  }

  /**
   * Makes the next request wait for all outstanding RDMA READs and atomic operations. All other
   * requests need no fence: the peer's device processes them in sequence.
   */
  public void fence() {
    lock.lock();
    try {
      fenced = true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Posts a request that accesses the peer's table of this side's exposures. At most {@link
   * #TABLE_REQUESTS} may be outstanding.
   *
   * @param write true for an RDMA WRITE, false for an RDMA READ
   * @param address the local address
   * @param localKey the local key
   * @param offset the offset in the table
   * @param tableKey the remote key of the table
   * @param length the length in bytes, at least 1
   * @return the request's number, for {@link #isRetired}
   */
  public long postForTable(
      boolean write, long address, int localKey, long offset, int tableKey, int length) {
    long number = 0;
    lock.lock();
    try {
      if (queue.isUsable()) {
        number = ledger.addAccess(-1, length, 0);
        SendOperation kind = write ? SendOperation.RDMA_WRITE : SendOperation.RDMA_READ;
        chain.set(0, kind, number, address, length, localKey, SendChain.SIGNALED);
        chain.setRemote(0, offset, tableKey);
        failures.posted(queuePair.post(chain, 0, 1));
      }
    } finally {
      lock.unlock();
    }
    failures.report();
    return number;
  }

  /**
   * {@return the number of the last posted request, for {@link #isRetired}; 0 if there was none}
   */
  public long lastRequest() {
    lock.lock();
    try {
      return ledger.lastAccess();
    } finally {
      lock.unlock();
    }
  }

  /**
   * {@return whether requests can be executed: false if the queue was closed, or a request has
   * failed}
   */
  public boolean isUsable() {
    lock.lock();
    try {
      return queue.isUsable();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns whether a request has completed. Polls for completions.
   *
   * @param number the request's number
   * @return whether it has
   */
  public boolean isRetired(long number) {
    boolean result;
    lock.lock();
    try {
      queue.poll();
      result = ledger.isRetired(number);
    } finally {
      lock.unlock();
    }
    failures.report();
    return result;
  }

  /**
   * Returns whether an operation has completed. Polls for completions if necessary.
   *
   * @param operation the operation's id
   * @return whether it and all operations before it have completed
   */
  public boolean isDone(long operation) {
    if (operation <= ledger.completedOperation()) {
      return true;
    }
    lock.lock();
    try {
      queue.poll();
    } finally {
      lock.unlock();
    }
    failures.report();
    return operation <= ledger.completedOperation();
  }
}
