// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.ExposedMemory;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.RemoteAccessException;
import dev.ferrule.RemoteMemory;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.Rma;
import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import dev.ferrule.Sender;
import dev.ferrule.posix.Posix;
import dev.ferrule.rdma.context.SharedDevice;
import dev.ferrule.rdma.onesided.AccessTable;
import dev.ferrule.rdma.onesided.Exposure;
import dev.ferrule.rdma.onesided.Exposures;
import dev.ferrule.rdma.onesided.PeerMemory;
import dev.ferrule.rdma.queue.OneSidedOperations;
import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.support.AbstractRma;
import dev.ferrule.support.RmaKey;
import dev.ferrule.support.SingleThreadedUse;
import dev.ferrule.support.Threads;
import dev.ferrule.support.Waiter;
import dev.ferrule.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Remote memory access by RDMA WRITE, READ and the device's atomic operations, over the queue pair
 * of the connection. A message that is sent after a write arrives after it. The accesses are
 * one-sided: they do not involve the peer's program.
 */
final class RdmaRma extends AbstractRma<RdmaMemoryUse, PeerMemory> {

  /**
   * The size of one work request. It is large enough for the outstanding requests to saturate any
   * link. It is small enough for a message not to wait long behind them, and for a request to pass
   * a lossy link before the retries are exhausted.
   */
  private static final int PIECE = 64 << 10;

  /** The maximum size of a work request if few are free. Every RDMA port permits it. */
  private static final int LONGEST_PIECE = 1 << 30;

  private static final long PAUSE_NANOS = 20_000;

  private final RdmaConnection connection;
  private final SharedDevice device;
  private final AccessTable table;
  private final Exposures exposures;
  private final SendQueue sends;
  private final OneSidedOperations queue;
  private final Waiter waiter;
  private final Rma checked;
  private final PostCondition postCondition = new PostCondition();
  private final DoneCondition doneCondition = new DoneCondition();

  // The next work request of the thread that uses this object.
  private RmaRight nextKind = RmaRight.WRITE;
  private @Nullable RdmaMemoryUse nextSource;
  private long nextAddress;
  private @Nullable PeerMemory nextTarget;
  private long nextOffset;
  private int nextLength;
  private long nextOperation;

  /**
   * Creates an instance without exposed memory on either side.
   *
   * @param device registers the memory
   * @param table this side's table
   * @param peerTable the remote key of the peer's table
   * @param sends the connection's send queue
   * @param waiter makes the thread that uses this object wait
   */
  RdmaRma(
      RdmaConnection connection,
      SharedDevice device,
      AccessTable table,
      int peerTable,
      SendQueue sends,
      Waiter waiter) {
    super(connection.registeredMemory());
    this.connection = connection;
    this.device = device;
    this.table = table;
    this.sends = sends;
    this.queue = sends.accesses();
    this.waiter = waiter;
    this.checked =
        new SingleThreadedUse(() -> "the remote memory access of " + connection.uri()).check(this);
    queue.onRegionRelease(table::release);
    exposures =
        new Exposures(
            device.domain(),
            table,
            peerTable,
            queue,
            new Exposures.Life() {
              @Override
              public void checkOpen() {
                connection.life().checkOpen();
              }

              @Override
              public long releaseTimeoutNanos() {
                return connection.releaseTimeoutNanos();
              }

              @Override
              public void lost(String reason) {
                connection.life().lost(reason);
              }
            });
  }

  /** Returns this object with the check for use by one thread. */
  Rma checked() {
    return checked;
  }

  @Override
  protected URI uri() {
    return connection.uri();
  }

  @Override
  protected void checkOpen() {
    connection.life().checkOpen();
  }

  @Override
  protected Sender sender() {
    return connection.sender();
  }

  @Override
  public ExposedMemory expose(MemorySegment memory, RmaRight... rights) {
    checkOpen();
    Set<RmaRight> all = checkExposable(memory, rights);
    try {
      Exposure exposure = exposures.add(memory, all);
      if (exposure == null) {
        throw tooMuchExposed(Exposures.limit());
      }
      return exposure;
    } catch (VerbsException e) {
      throw RdmaFailures.of(uri(), e);
    } catch (IllegalStateException e) {
      throw accessFailed(e);
    }
  }

  /** Allocates ordinary memory, which the garbage collector frees. */
  @Override
  public ExposedMemory allocate(long size, RmaRight... rights) {
    checkOpen();
    checkAllocatable(size, rights);
    try {
      return expose(Arena.ofAuto().allocate(size, Posix.PAGE), rights);
    } catch (OutOfMemoryError e) {
      throw new ResourceExhaustedException(
          uri(), "out of memory: cannot allocate " + size + " bytes; allocate less", e);
    }
  }

  @Override
  public RemoteMemory attach(RmaHandle handle) {
    checkOpen();
    RmaKey key = decode(handle);
    try {
      PeerMemory found = table.find(key);
      if (found == null) {
        throw notExposed();
      }
      return found;
    } catch (IllegalStateException e) {
      throw accessFailed(e);
    }
  }

  /**
   * Returns the exception for an access to the table, which is freed if another thread has closed
   * the connection.
   */
  private RuntimeException accessFailed(IllegalStateException e) {
    return connection.life().isReleased() ? connection.life().exception(e) : e;
  }

  @Override
  protected PeerMemory remote(RemoteMemory memory) {
    if (!(memory instanceof PeerMemory remote) || !remote.belongsTo(table)) {
      throw new IllegalArgumentException("the memory was attached by another connection");
    }
    return remote;
  }

  @Override
  protected boolean begin(
      RmaRight right,
      RdmaMemoryUse local,
      long localOffset,
      PeerMemory remote,
      long remoteOffset,
      long length,
      long id) {
    local.accessed();
    long piece = tries() ? pieceAtOnce(length) : PIECE;
    if (piece == 0) {
      return false;
    }
    long posted = 0;
    try {
      do {
        nextKind = right;
        nextAddress = local.segment().address() + localOffset + posted;
        nextSource = local;
        nextTarget = remote;
        nextOffset = remote.first() + remoteOffset + posted;
        nextLength = (int) Math.min(length - posted, piece);
        nextOperation = posted + nextLength == length ? id : 0;
        if (!postCondition.isReady() && !waiter.await(postCondition, deadline())) {
          if (posted > 0) {
            awaitPosted(); // the program gets no id to wait for, and may reuse its memory
          }
          return false;
        }
        posted += nextLength;
      } while (posted < length);
      return true;
    } catch (RemoteAccessException | OperationInterruptedException e) {
      awaitPosted(); // as above
      throw e;
    } finally {
      nextSource = null;
      nextTarget = null;
    }
  }

  /**
   * Returns the size of the work requests with which an operation can start without waiting. The
   * fewer requests are free, the longer each must be. Returns 0 if none is free.
   */
  private long pieceAtOnce(long length) {
    int requests = queue.free();
    if (requests == 0) {
      return 0;
    }
    long piece = Math.max(PIECE, Math.ceilDiv(length, requests));
    if (piece > LONGEST_PIECE) {
      throw new IllegalArgumentException(
          "an access of "
              + length
              + " bytes cannot start without waiting; split it, or use a form that waits");
    }
    return piece;
  }

  @Override
  protected void checkAtomics() {
    device.checkAtomics();
  }

  private void awaitPosted() {
    long last = queue.lastRequest();
    while (!queue.isRetired(last) && queue.isUsable()) {
      Threads.pause(PAUSE_NANOS);
    }
  }

  @Override
  protected boolean isDone(long id) {
    if (queue.isDone(id)) {
      return true;
    }
    checkOpen();
    return false;
  }

  @Override
  protected boolean awaitDone(long id, long deadline) {
    if (isDone(id)) {
      return true;
    }
    doneCondition.id = id;
    return waiter.await(doneCondition, deadline);
  }

  @Override
  public void fence() {
    checkOpen();
    queue.fence();
  }

  @Override
  protected void orderBeforeMessage(long id) {
    // nothing to wait for: the peer's device processes requests in the order of the queue
  }

  /** Ends all exposures; the queue pair is destroyed. */
  void close() {
    exposures.close();
  }

  void wake() {
    waiter.wake();
  }

  void awaitNoWaiters(long nanos) {
    waiter.awaitNoWaiters(nanos);
  }

  long sleeps() {
    return waiter.sleeps();
  }

  /** Waits for work requests to complete. */
  private abstract class RequestCondition implements EventCondition {

    @Override
    public void arm() {
      sends.arm();
    }

    @Override
    public RuntimeException interrupted() {
      return connection.interrupted("access the peer's memory");
    }
  }

  /** Waits for space in the send queue, and posts the next work request. */
  private final class PostCondition extends RequestCondition {

    @Override
    public boolean isReady() {
      checkOpen();
      RdmaMemoryUse source = nextSource;
      PeerMemory target = nextTarget;
      if (source == null || target == null) {
        throw new IllegalStateException("there is no work request to post");
      }
      OneSidedOperations.Result result =
          nextKind == RmaRight.ATOMIC
              ? queue.tryPostAtomic(
                  swaps(),
                  source,
                  nextAddress,
                  target,
                  nextOffset,
                  operand(),
                  desired(),
                  nextOperation)
              : queue.tryPost(
                  nextKind == RmaRight.WRITE,
                  source,
                  nextAddress,
                  target,
                  nextOffset,
                  nextLength,
                  nextOperation);
      if (result == OneSidedOperations.Result.GONE) {
        checkOpen(); // throws the cause
        throw revoked();
      }
      if (result == OneSidedOperations.Result.CLOSED) {
        source.checkOpen(); // throws, unless a close of the memory was refused in the meantime
        return isReady();
      }
      return result == OneSidedOperations.Result.POSTED;
    }
  }

  /** Waits for an operation to complete. */
  private final class DoneCondition extends RequestCondition {

    private long id;

    @Override
    public boolean isReady() {
      return isDone(id);
    }
  }
}
