// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import java.util.function.IntConsumer;

/**
 * The part of a send queue by which the peer's memory is read and written. Every request makes a
 * completion, and there is room of its own for them, so that messages and they do not wait for each
 * other's room.
 *
 * <p>The bytes are never sent inline: they are the program's own, which it may free, and only the
 * device can read memory that is gone without harm.
 *
 * <p><b>Threads:</b> any thread may call; the send queue's lock keeps them apart.
 */
public final class AccessQueue {

  /** How many pieces of operations may be under way. */
  private static final int PIECES = 32;

  /** How many requests for the peer's table may be under way, beside the pieces. */
  public static final int TABLE_REQUESTS = 4;

  /** Work requests that the send queue holds for all of this. */
  static final int SENDS = PIECES + TABLE_REQUESTS;

  /** What became of a piece. */
  public enum Result {
    /** It is posted. */
    POSTED,
    /** There is no room. */
    FULL,
    /** The peer no longer exposes the memory. */
    GONE,
    /** This side's memory is no longer registered. */
    CLOSED
  }

  /** Memory of this side's. */
  public interface Source {

    /**
     * Returns the key by which this side's device knows it.
     *
     * @return the lkey
     */
    int localKey();

    /**
     * Tells whether it may be used. Under the queue's lock: whoever ends that takes the lock
     * afterwards, by {@link AccessQueue#lastRequest}, and so knows of all requests that use it.
     *
     * @return whether it may
     */
    boolean isUsable();
  }

  /** Memory of the peer's. */
  public interface Target {

    /**
     * Returns the key by which the peer's device knows it.
     *
     * @return the rkey
     */
    int remoteKey();

    /**
     * Returns which of the peer's regions it is.
     *
     * @return what {@link #onRegionRelease} is told
     */
    int region();

    /**
     * Keeps the peer from taking the memory back until the region is released. Under the queue's
     * lock.
     *
     * @return false if the peer has taken it back already; then there is nothing to release
     */
    boolean acquire();
  }

  private final QueuePair queuePair;
  private final SendQueue queue;
  private final SpinLock lock;
  private final SendLedger ledger;
  private final SendFailures failures;
  private final SendChain chain = new SendChain(1);
  private boolean fenced; // the next piece is to wait for what was read; under the lock

  AccessQueue(
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
   * Has somebody told of each piece that is done, by its region.
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
   * Posts a piece of an operation, if there is room and the peer still exposes the memory. Each
   * piece that is posted releases its region once.
   *
   * @param write whether bytes go to the peer; else they come from there
   * @param source this side's memory
   * @param address where in it
   * @param target the peer's memory
   * @param offset where in it, as the peer's device counts
   * @param length how many bytes, which may be 0
   * @param operation the id of the operation, if this is its last piece; else 0
   * @return what became of it; POSTED, too, if the connection has ended
   */
  public Result tryPost(
      boolean write,
      Source source,
      long address,
      Target target,
      long offset,
      int length,
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
            post(true, number, 0, 0, 0, 0, 0, flags);
          } else {
            int localKey = source.localKey();
            post(write, number, address, localKey, length, offset, target.remoteKey(), flags);
          }
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

  private void post(
      boolean write,
      long number,
      long address,
      int localKey,
      int length,
      long remoteAddress,
      int remoteKey,
      int flags) {
    SendOperation operation = write ? SendOperation.RDMA_WRITE : SendOperation.RDMA_READ;
    chain.set(0, operation, number, address, length, localKey, flags);
    chain.setRemote(0, remoteAddress, remoteKey);
    failures.posted(queuePair.post(chain, 0, 1));
  }

  /**
   * Has the next piece wait for all that is being read. Devices keep any other order by themselves:
   * the peer's one does what it is asked for in turn.
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
   * Posts a request for the table in which the peer keeps what this side exposes. There must not be
   * more than {@link #TABLE_REQUESTS} at a time.
   *
   * @param write whether bytes go to the peer; else they come from there
   * @param address where they are on this side
   * @param localKey the key of the memory there
   * @param offset where in the table they are
   * @param tableKey the table's key
   * @param length how many bytes, at least 1
   * @return the request's number, for {@link #isRetired}
   */
  public long postForTable(
      boolean write, long address, int localKey, long offset, int tableKey, int length) {
    long number = 0;
    lock.lock();
    try {
      if (queue.isUsable()) {
        number = ledger.addAccess(-1, length, 0);
        post(write, number, address, localKey, length, offset, tableKey, SendChain.SIGNALED);
      }
    } finally {
      lock.unlock();
    }
    failures.report();
    return number;
  }

  /**
   * Returns the number of the request that was posted last.
   *
   * @return the number, for {@link #isRetired}; 0 if there was none
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
   * Tells whether requests are carried out at all.
   *
   * @return false if the queue was closed, or a request has failed
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
   * Tells whether a request is done, looking for completions if need be.
   *
   * @param number its number
   * @return whether it is
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
   * Tells whether an operation is done, looking for completions if need be.
   *
   * @param operation its id
   * @return whether it is, and so all before it
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
