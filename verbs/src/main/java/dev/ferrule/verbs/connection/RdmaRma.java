// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.ExposedMemory;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteAccessException;
import dev.ferrule.RemoteMemory;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import dev.ferrule.Sender;
import dev.ferrule.spi.AbstractRma;
import dev.ferrule.spi.RmaKey;
import dev.ferrule.spi.Threads;
import dev.ferrule.spi.Waiter;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.access.AccessTable;
import dev.ferrule.verbs.access.Exposure;
import dev.ferrule.verbs.access.Exposures;
import dev.ferrule.verbs.access.PeerMemory;
import dev.ferrule.verbs.queue.AccessQueue;
import dev.ferrule.verbs.queue.SendQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Remote memory access by RDMA WRITE and READ, over the connection's own queue pair: so a message
 * that is sent after a write comes after it, and what has been exposed is accessed without the
 * peer's program.
 */
final class RdmaRma extends AbstractRma<RdmaRegisteredMemory, PeerMemory> {

  /**
   * So much is asked for by one work request: large enough that the requests under way fill any
   * link, and small enough that a message does not wait long behind them, and that a link which
   * loses packets gets one through before its retries are used up.
   */
  private static final int PIECE = 64 << 10;

  private static final long PAUSE_NANOS = 20_000;
  private static final long PAGE = 4096;

  private final RdmaConnection connection;
  private final AccessTable table;
  private final Exposures exposures;
  private final SendQueue sends;
  private final AccessQueue queue;
  private final Waiter waiter;
  private final RoomCondition roomCondition = new RoomCondition();
  private final DoneCondition doneCondition = new DoneCondition();

  // What the thread that uses this has to post next.
  private boolean wantedWrite;
  private @Nullable RdmaRegisteredMemory wantedSource;
  private long wantedAddress;
  private @Nullable PeerMemory wantedTarget;
  private long wantedOffset;
  private int wantedLength;
  private long wantedOperation;

  /**
   * Begins with nothing exposed on either side.
   *
   * @param domain where to register memory
   * @param table this side's table
   * @param peerTable the key of the peer's
   * @param sends the connection's send queue
   * @param waiter for the thread that uses this
   */
  RdmaRma(
      RdmaConnection connection,
      ProtectionDomain domain,
      AccessTable table,
      int peerTable,
      SendQueue sends,
      Waiter waiter) {
    this.connection = connection;
    this.table = table;
    this.sends = sends;
    this.queue = sends.accesses();
    this.waiter = waiter;
    queue.onRegionRelease(table::release);
    exposures =
        new Exposures(
            domain,
            table,
            peerTable,
            queue,
            new Exposures.Life() {
              @Override
              public void checkOpen() {
                connection.life().checkOpen();
              }

              @Override
              public long patienceNanos() {
                return connection.patienceNanos();
              }

              @Override
              public void lost(String reason) {
                connection.life().lost(reason);
              }
            });
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
  public String path() {
    return "rdma";
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
      return new RdmaExposedMemory(exposures, exposure);
    } catch (VerbsException e) {
      throw RdmaFailures.of(uri(), e);
    } catch (IllegalStateException e) {
      throw accessFailed(e);
    }
  }

  /** Ordinary memory, which is freed when the program no longer refers to it. */
  @Override
  public ExposedMemory allocate(long size, RmaRight... rights) {
    checkOpen();
    checkAllocatable(size, rights);
    try {
      return expose(Arena.ofAuto().allocate(size, PAGE), rights);
    } catch (OutOfMemoryError e) {
      throw new ResourceExhaustedException(
          uri(), "there is no memory of " + size + " bytes; allocate less", e);
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

  /** The table is gone if the connection was closed meanwhile. */
  private RuntimeException accessFailed(IllegalStateException e) {
    return connection.life().isReleased() ? connection.life().exception(e) : e;
  }

  @Override
  protected RdmaRegisteredMemory local(RegisteredMemory memory) {
    return connection.ownSender().own(memory);
  }

  @Override
  protected PeerMemory remote(RemoteMemory memory) {
    if (!(memory instanceof PeerMemory remote) || !remote.belongsTo(table)) {
      throw new IllegalArgumentException("the memory was attached by another connection");
    }
    return remote;
  }

  @Override
  protected void begin(
      RmaRight right,
      RdmaRegisteredMemory local,
      long localOffset,
      PeerMemory remote,
      long remoteOffset,
      long length,
      long id) {
    local.accessed();
    long posted = 0;
    try {
      do {
        wantedWrite = right == RmaRight.WRITE;
        wantedAddress = local.segment().address() + localOffset + posted;
        wantedSource = local;
        wantedTarget = remote;
        wantedOffset = remote.first() + remoteOffset + posted;
        wantedLength = (int) Math.min(length - posted, PIECE);
        posted += wantedLength;
        wantedOperation = posted == length ? id : 0;
        if (!roomCondition.isReady()) {
          waiter.await(roomCondition, false, 0);
        }
      } while (posted < length);
    } catch (RemoteAccessException | OperationInterruptedException e) {
      awaitPosted(); // as the program has no id to wait for, and may use its memory again
      throw e;
    } finally {
      wantedSource = null;
      wantedTarget = null;
    }
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
  protected boolean awaitDone(long id, boolean bounded, long deadline) {
    if (isDone(id)) {
      return true;
    }
    doneCondition.id = id;
    return waiter.await(doneCondition, bounded, deadline);
  }

  @Override
  public void fence() {
    checkOpen();
    queue.fence();
  }

  @Override
  protected void orderBeforeMessage(long id) {
    // it is posted, and the peer's device takes what comes in the order of the queue
  }

  /** Takes back all that is exposed; the queue pair is destroyed. */
  void close() {
    exposures.close();
  }

  void wake() {
    waiter.wake();
  }

  void awaitNobodyWaiting(long nanos) {
    waiter.awaitNobody(nanos);
  }

  long sleeps() {
    return waiter.sleeps();
  }

  /** Waits for requests to be done. */
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

  /** Waits for room for the next piece, and posts it. */
  private final class RoomCondition extends RequestCondition {

    @Override
    public boolean isReady() {
      checkOpen();
      RdmaRegisteredMemory source = wantedSource;
      PeerMemory target = wantedTarget;
      if (source == null || target == null) {
        throw new IllegalStateException("there is no piece to post");
      }
      AccessQueue.Result result =
          queue.tryPost(
              wantedWrite,
              source,
              wantedAddress,
              target,
              wantedOffset,
              wantedLength,
              wantedOperation);
      if (result == AccessQueue.Result.GONE) {
        checkOpen(); // the better reason
        throw notExposed();
      }
      if (result == AccessQueue.Result.CLOSED) {
        source.checkOpen(); // which says so
      }
      return result == AccessQueue.Result.POSTED;
    }
  }

  /** Waits for an operation. */
  private final class DoneCondition extends RequestCondition {

    private long id;

    @Override
    public boolean isReady() {
      return isDone(id);
    }
  }
}
