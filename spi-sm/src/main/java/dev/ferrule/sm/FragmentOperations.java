// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.FerruleException;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.ring.CorruptRingException;
import dev.ferrule.sm.rma.Fragments;
import dev.ferrule.sm.rma.RemoteRegion;
import dev.ferrule.sm.rma.RmaArea;
import dev.ferrule.sm.rma.RmaLayout;
import dev.ferrule.support.Deadlines;
import dev.ferrule.support.Waiter;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;

/**
 * The operations of remote memory access that the peer's endpoint thread copies, in {@link
 * Fragments}, and which operations are complete, by this way or another.
 *
 * <p><b>Threads:</b> one thread at a time submits and waits. A thread that closes a registration
 * reaps completed operations, too.
 */
final class FragmentOperations {

  /** Handles fragments that the peer has not copied. */
  interface FailureHandler {

    /**
     * Handles a failure.
     *
     * @param id the operation's id
     * @param status the peer's reason, a constant of {@link RmaLayout}
     */
    void failed(long id, int status);
  }

  private final SmConnection connection;
  private final SmConnectionResources resources;
  private final RmaArea own;
  private final RmaArea peer;
  private final Waiter waiter;
  private final FailureHandler failures;
  private final RoomCondition roomCondition = new RoomCondition();
  private final DoneCondition doneCondition = new DoneCondition();
  private final Fragments.Listener onFragment = this::onFragment;
  private final Object lock = new Object();
  private @Nullable Fragments fragments; // guarded by the lock
  private long done; // all operations up to this one

  // The fragment to submit; confined to the thread that submits.
  private @Nullable RemoteRegion wantedRegion;
  private @Nullable MemorySegment wantedLocal;
  private boolean wantedWrite;
  private long wantedOffset;
  private long wantedLocalOffset;
  private int wantedLength;
  private long wantedId;
  private boolean wantedLast;

  FragmentOperations(
      SmConnection connection,
      SmConnectionResources resources,
      Waiter waiter,
      FailureHandler failures) {
    this.connection = connection;
    this.resources = resources;
    this.own = resources.own().rma();
    this.peer = resources.peerRing().rma();
    this.waiter = waiter;
    this.failures = failures;
  }

  /** Records that an operation is complete without fragments. */
  void completed(long id) {
    done = id;
  }

  /** Submits an operation, piece by piece; waits for room. */
  void submit(
      boolean write,
      MemorySegment local,
      long localOffset,
      RemoteRegion region,
      long remoteOffset,
      long length,
      long id) {
    Fragments known = fragments();
    long submitted = 0;
    boolean complete = false;
    try {
      do {
        wantedWrite = write;
        wantedRegion = region;
        wantedOffset = remoteOffset + submitted;
        wantedLocal = local;
        wantedLocalOffset = localOffset + submitted;
        wantedLength = (int) Math.min(length - submitted, known.maxPayload());
        wantedId = id;
        submitted += wantedLength;
        wantedLast = submitted == length;
        if (!roomCondition.isReady()) {
          waiter.await(roomCondition, Deadlines.NEVER);
        }
      } while (submitted < length);
      complete = true;
    } finally {
      wantedRegion = null;
      wantedLocal = null;
      if (!complete) {
        synchronized (lock) {
          known.abandon(id);
        }
      }
    }
  }

  /**
   * Returns the fragments; creates their buffer on first use, as most connections never need it.
   */
  private Fragments fragments() {
    synchronized (lock) {
      Fragments known = fragments;
      if (known == null) {
        known = makeFragments();
        fragments = known;
      }
      return known;
    }
  }

  private Fragments makeFragments() {
    try {
      resources.allocateRmaBuffer();
      return new Fragments(own, peer, () -> resources.peer().tellFragments());
    } catch (PosixException e) {
      throw Failures.of(connection.uri(), e);
    }
  }

  private void onFragment(long id, int status, boolean isLast) {
    if (status != RmaLayout.DONE) {
      failures.failed(id, status);
    }
    if (isLast) {
      VarHandle.loadLoadFence();
      // otherwise the copied bytes may be the zeros of retired memory
      connection.checkNotReleased();
      done = id;
    }
  }

  boolean isDone(long id) {
    synchronized (lock) {
      return id <= done || doneCondition.look(id);
    }
  }

  /** As {@link #isDone}; true as well if the connection has ended. */
  boolean isOver(long id) {
    try {
      return isDone(id);
    } catch (FerruleException e) {
      return true;
    }
  }

  /** Waits until all operations up to an id are complete; returns false after the deadline. */
  boolean awaitDone(long id, long deadline) {
    if (isDone(id)) {
      return true;
    }
    doneCondition.id = id;
    return waiter.await(doneCondition, deadline);
  }

  /** Abandons all operations, so that nothing is written to local memory any more. */
  void abandonAll() {
    synchronized (lock) {
      Fragments known = fragments;
      if (known != null) {
        known.abandonAll();
      }
    }
  }

  void wake() {
    waiter.wake();
  }

  long sleeps() {
    return waiter.sleeps();
  }

  /** The common part of both waits. */
  private abstract class FragmentCondition implements Waiter.Condition {

    final void reap() {
      try {
        synchronized (lock) {
          Fragments known = fragments;
          if (known != null) {
            known.reap(onFragment);
          }
        }
        Reference.reachabilityFence(connection);
      } catch (CorruptRingException e) {
        throw connection.failCorrupt(e);
      } catch (InternalError e) {
        throw connection.failOwnFile(e);
      }
    }

    @Override
    public void arm() {
      fragments().arm();
      Reference.reachabilityFence(connection);
    }

    @Override
    public boolean isArmed() {
      boolean result = fragments().isArmed();
      Reference.reachabilityFence(connection);
      return result;
    }

    @Override
    public void disarm() {
      fragments().disarm();
      Reference.reachabilityFence(connection);
    }

    @Override
    public RuntimeException interrupted() {
      return connection.interrupted("access the peer's memory");
    }
  }

  /** Waits for room for the next fragment, and submits it. */
  private final class RoomCondition extends FragmentCondition {

    @Override
    public boolean isReady() {
      connection.checkOpen();
      reap();
      RemoteRegion region = wantedRegion;
      MemorySegment local = wantedLocal;
      if (region == null || local == null) {
        throw new IllegalStateException("there is no fragment to submit");
      }
      synchronized (lock) {
        return fragments()
            .trySubmit(
                wantedWrite,
                region,
                wantedOffset,
                local,
                wantedLocalOffset,
                wantedLength,
                wantedId,
                wantedLast);
      }
    }
  }

  /** Waits for an operation. */
  private final class DoneCondition extends FragmentCondition {

    private long id;

    @Override
    public boolean isReady() {
      return look(id);
    }

    private boolean look(long wanted) {
      synchronized (lock) {
        if (wanted <= done) {
          return true;
        }
        connection.checkNotReleased();
        reap();
        if (wanted > done) {
          connection.checkOpen();
        }
        return wanted <= done;
      }
    }
  }
}
