// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.FerruleException;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.ring.CorruptRingException;
import dev.ferrule.sm.rma.Fragments;
import dev.ferrule.sm.rma.RmaArea;
import dev.ferrule.sm.rma.RmaLayout;
import dev.ferrule.sm.rma.Transfer;
import dev.ferrule.support.Deadlines;
import dev.ferrule.support.Waiter;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;

/**
 * Submits the operations of remote memory access that the peer's endpoint thread performs, as
 * {@link Fragments}, and tracks which operations are complete, with or without fragments.
 *
 * <p><b>Threads:</b> one thread at a time submits and waits. A thread that closes a registration
 * reaps completed operations, too.
 */
final class FragmentOperations {

  private final SmConnection connection;
  private final SmConnectionResources resources;
  private final RmaArea own;
  private final RmaArea peer;
  private final Waiter waiter;
  private final SmRma rma;
  private final RoomCondition roomCondition = new RoomCondition();
  private final DoneCondition doneCondition = new DoneCondition();
  private final Fragments.Listener onFragment = this::onFragment;
  private final Object lock = new Object();
  private @Nullable Fragments fragments; // guarded by the lock
  private long done; // all operations up to this one

  // The operation to submit; confined to the thread that submits.
  private final Transfer transfer;
  private long transferId;
  private long submitted; // the last operation that may be in flight; 0 if none is
  private long fetching; // the last one that stores to local memory and may be in flight, or 0

  FragmentOperations(
      SmRma rma,
      SmConnection connection,
      SmConnectionResources resources,
      Transfer transfer,
      Waiter waiter) {
    this.rma = rma;
    this.connection = connection;
    this.resources = resources;
    this.own = resources.own().rma();
    this.peer = resources.peerRing().rma();
    this.transfer = transfer;
    this.waiter = waiter;
  }

  /** Records that an operation is complete without fragments. */
  void completed(long id) {
    done = id;
  }

  /**
   * Waits until no operation by fragments is in flight.
   *
   * @return false if one still is at the deadline; with {@code tries}, at once
   */
  boolean awaitSubmitted(boolean tries, long deadline) {
    if (submitted != 0) {
      if (!(tries ? isDone(submitted) : awaitDone(submitted, deadline))) {
        return false;
      }
      submitted = 0;
    }
    return true;
  }

  /**
   * Waits until no operation that stores to local memory is in flight. A write submitted before
   * that would copy bytes that are still to be replaced.
   */
  void awaitFetched() {
    if (fetching != 0) {
      boolean ignored = awaitDone(fetching, Deadlines.NEVER);
      fetching = 0;
    }
  }

  /**
   * Submits the rest of the transfer, piece by piece; waits for room.
   *
   * @return false if there is still no room at the deadline; with {@code tries}, at once
   * @throws IllegalArgumentException with {@code tries}, if the transfer takes more than one
   *     fragment
   */
  boolean submit(long id, boolean tries, long deadline) {
    Fragments known = fragments();
    if (tries && transfer.length() > known.maxPayload()) {
      throw new IllegalArgumentException(
          "an access of "
              + transfer.length()
              + " bytes by fragments cannot start without waiting; the longest has "
              + known.maxPayload());
    }
    transferId = id;
    boolean complete = false;
    try {
      do {
        if (!roomCondition.isReady() && (tries || !waiter.await(roomCondition, deadline))) {
          return false;
        }
      } while (transfer.length() > 0);
      complete = true;
      submitted = id;
      if (!transfer.isWrite()) {
        fetching = id;
      }
      return true;
    } finally {
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
      return new Fragments(own, peer, () -> resources.peer().notifyFragments());
    } catch (PosixException e) {
      throw Failures.of(connection.uri(), e);
    }
  }

  private void onFragment(long id, int status, boolean isLast) {
    if (status != RmaLayout.DONE) {
      rma.onFailedFragment(id, status);
    }
    if (isLast) {
      VarHandle.loadLoadFence();
      // otherwise the copied bytes may be the zeros of retired memory
      connection.checkNotReleased();
      done = id;
    }
  }

  /** Returns whether all operations up to an id are complete; reaps completed fragments. */
  boolean isDone(long id) {
    synchronized (lock) {
      if (id <= done) {
        return true;
      }
      connection.checkNotReleased();
      reap();
      if (id > done) {
        connection.checkOpen();
      }
      return id <= done;
    }
  }

  private void reap() {
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

  /** Abandons all operations: none of them writes to local memory from now on. */
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

  private abstract class FragmentCondition implements Waiter.Condition {

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
      synchronized (lock) {
        return fragments().trySubmit(transfer, transferId);
      }
    }
  }

  /** Waits for an operation. */
  private final class DoneCondition extends FragmentCondition {

    private long id;

    @Override
    public boolean isReady() {
      return isDone(id);
    }
  }
}
