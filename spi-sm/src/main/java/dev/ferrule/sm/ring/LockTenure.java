// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import dev.ferrule.posix.Membarrier;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A lock for the records of one {@link Epoch}, for as long as its conditions stay the same. A
 * tenure with an owner is biased: only that thread takes the lock, by plain stores. In a tenure
 * without an owner any thread takes it, by compare-and-swap. A tenure is closed to pass the lock to
 * other threads, or to revoke it from a thread that has stopped; another tenure follows it.
 *
 * <p>A compare-and-swap waits until all earlier stores have left the processor's store buffer,
 * which takes until the receiver's processor has released the cache line of the last record. A
 * thread that sends one message after the other avoids that by owning the lock.
 *
 * <p>Entering and closing are a Dekker-style store–load handshake: the entering thread stores
 * {@code holds} and then loads {@code closed}, the closing thread stores {@code closed} and then
 * loads {@code holds}. The latter runs a membarrier(2) between the two, so that the former needs no
 * fence. The same handshake at the end of a hold determines whether the holder's stores count: if
 * it finds the tenure open after it has published its message, then the message is visible to any
 * thread that closes the tenure.
 */
final class LockTenure {

  private static final VarHandle HOLDS;
  private static final VarHandle END;
  private static final VarHandle NEXT;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      HOLDS = lookup.findVarHandle(LockTenure.class, "holds", int.class);
      END = lookup.findVarHandle(LockTenure.class, "end", End.class);
      NEXT = lookup.findVarHandle(LockTenure.class, "next", Succession.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** How a tenure ends; decided once, by the first thread to do so. */
  sealed interface End {}

  /** No thread holds the lock, or will hold it. */
  private static final class Left implements End {
    static final Left INSTANCE = new Left();
  }

  /** The thread that holds the lock is cut off. */
  private static final class CutOff implements End {
    static final CutOff INSTANCE = new CutOff();
  }

  /**
   * What follows a tenure.
   *
   * @param tenure the next one; null when the lock knows it, so that a thread which has stopped in
   *     this one does not keep all later ones reachable
   * @param messagesBefore how many messages were sent before the next one's epoch
   */
  private record Succession(@Nullable LockTenure tenure, long messagesBefore) {
    static Succession of(LockTenure tenure) {
      return new Succession(tenure, tenure.epoch.messagesBefore());
    }
  }

  private final Epoch epoch;
  private final @Nullable Thread owner;
  private final long messagesBefore;

  private int holds; // odd while a thread holds the lock
  private volatile boolean closed;
  private volatile @Nullable End end;
  private volatile @Nullable Succession next;

  // used by the thread that holds a lock without an owner
  private @Nullable Thread last;
  private int streak; // consecutive holds of the same thread

  /**
   * Creates a free lock.
   *
   * @param epoch the epoch that it protects
   * @param owner the only thread that may take it; null if any may
   */
  LockTenure(Epoch epoch, @Nullable Thread owner) {
    this.epoch = epoch;
    this.owner = owner;
    this.messagesBefore = epoch.messages();
  }

  Epoch epoch() {
    return epoch;
  }

  boolean isOwnedByAnother() {
    return owner != null && owner != Thread.currentThread();
  }

  boolean hasOwner() {
    return owner != null;
  }

  boolean isClosed() {
    return closed;
  }

  /** Returns the number of messages sent in this tenure. */
  long messages() {
    return epoch.messages() - messagesBefore;
  }

  /** Returns how often the lock was taken or left; odd while it is held. */
  int holds() {
    return (int) HOLDS.getAcquire(this);
  }

  /**
   * Takes the lock if it is free, this thread may have it, and the tenure is open.
   *
   * @return whether this thread holds it and must {@link #leave} it
   */
  boolean tryEnter() {
    Thread owner = this.owner;
    if (owner == Thread.currentThread()) {
      HOLDS.setOpaque(this, holds + 1);
      orderStoreAndLoad();
    } else {
      int before = holds();
      if (owner != null || (before & 1) != 0 || !HOLDS.compareAndSet(this, before, before + 1)) {
        return false;
      }
    }
    if (closed) {
      HOLDS.setRelease(this, holds + 1);
      return false;
    }
    return true;
  }

  private static void orderStoreAndLoad() {
    if (Membarrier.REGISTERED_PRIVATE) {
      // no instruction on x86; prevents the compiler from hoisting the load above the store
      VarHandle.releaseFence();
    } else {
      VarHandle.fullFence();
    }
  }

  /**
   * Counts the consecutive holds of the calling thread, which holds this lock without an owner.
   *
   * @return the number, from 1
   */
  int streak() {
    Thread me = Thread.currentThread();
    if (last != me) {
      last = me;
      streak = 0;
    }
    return ++streak;
  }

  /**
   * Leaves the lock.
   *
   * @return whether what this thread has done counts. If it was cut off, its message may be visible
   *     or not; {@link #messagesAfter} says which
   */
  boolean leave() {
    orderStoreAndLoad();
    if (closed) {
      return leaveClosed();
    }
    HOLDS.setRelease(this, holds + 1);
    return true;
  }

  private boolean leaveClosed() {
    HOLDS.setRelease(this, holds + 1);
    return decide(Left.INSTANCE) instanceof Left;
  }

  private End decide(End wanted) {
    End before = (End) END.compareAndExchange(this, (End) null, wanted);
    return before == null ? wanted : before;
  }

  /**
   * Passes the lock to a tenure owned by the calling thread, which holds it, and leaves this one.
   *
   * @return whether this thread's earlier stores count, as for {@link #leave}
   */
  boolean leaveToOwn() {
    // closed before the end is decided: otherwise another thread could enter
    closed = true;
    if (!(decide(Left.INSTANCE) instanceof Left)) {
      return leaveClosed();
    }
    LockTenure own = new LockTenure(epoch, Thread.currentThread());
    NEXT.compareAndSet(this, (Succession) null, Succession.of(own));
    return leaveClosed();
  }

  /** Stops threads from entering. A thread may still hold the lock. */
  void close() {
    closed = true;
    if (Membarrier.REGISTERED_PRIVATE) {
      Membarrier.inProcess();
    } else {
      VarHandle.fullFence();
    }
  }

  /**
   * Appends the tenure that follows this closed one, whose lock is free.
   *
   * @return whether one follows; false if the thread that left the lock was cut off, and there is
   *     no memory for the next epoch at the moment
   * @throws CorruptRingException if the receiver's side of the ring is not valid
   */
  boolean passOn() {
    return follow(decide(Left.INSTANCE));
  }

  /**
   * Appends the tenure that follows this closed one, and revokes the records from the thread that
   * holds the lock.
   *
   * @return whether one follows; false if there is no memory for the next epoch at the moment
   * @throws CorruptRingException if the receiver's side of the ring is not valid
   */
  boolean cutOff() {
    return follow(decide(CutOff.INSTANCE));
  }

  private boolean follow(End how) {
    if (next != null) {
      return true;
    }
    Epoch then;
    try {
      then = how instanceof CutOff ? epoch.replacement() : epoch;
    } catch (CorruptRingException e) {
      if (next == null) {
        throw e;
      }
      return true; // and records were overwritten that this thread has just read
    }
    if (then == null) {
      return false;
    }
    NEXT.compareAndSet(this, (Succession) null, Succession.of(new LockTenure(then, null)));
    return true;
  }

  /** Returns whether another tenure follows this one. */
  boolean hasNext() {
    return next != null;
  }

  /** Returns the tenure that follows this one; null if none does, or the lock has gone on to it. */
  @Nullable LockTenure next() {
    Succession known = next;
    return known == null ? null : known.tenure;
  }

  /**
   * Returns how many messages were sent before the epoch of the next tenure.
   *
   * @throws NullPointerException if none follows
   */
  long messagesAfter() {
    return Objects.requireNonNull(next).messagesBefore;
  }

  /** Forgets the next tenure, which is in force, or was. */
  void forgetNext() {
    Succession known = next;
    if (known != null && known.tenure != null) {
      next = new Succession(null, known.messagesBefore);
    }
  }
}
