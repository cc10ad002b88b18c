// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.MessageTooLongException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteAccessException;
import dev.ferrule.RemoteMemory;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.Rma;
import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import dev.ferrule.Sender;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * The base class of the providers' remote memory access: argument checks, operation ids, and the
 * assignment of failures to calls.
 *
 * @param <L> the provider's use of registered memory
 * @param <R> the provider's remote memory
 */
public abstract class AbstractRma<L extends MemoryUse, R extends AbstractRemoteMemory>
    implements Rma {

  // Concurrent because a thread that closes registered memory may also detect a failed operation.
  private static final long NOT_STARTED = 0; // in place of an id

  /** Why memory that was attached cannot be accessed. */
  protected static final String REVOKED =
      "the peer has closed the ExposedMemory, which revokes the access";

  private final ConcurrentSkipListMap<Long, RemoteAccessException> failures =
      new ConcurrentSkipListMap<>();
  private final RecentMemory<L> recent;
  private long lastId;

  // The operands of the operation that begins; confined to the using thread.
  private boolean tries;
  private long deadline;
  private boolean swaps;
  private long operand;
  private long desired;

  /**
   * Creates remote memory access.
   *
   * @param memory the connection's registered memory
   */
  protected AbstractRma(MemoryUses<L> memory) {
    this.recent = new RecentMemory<>(memory);
  }

  /** {@return the URI that identifies the connection in exceptions} */
  protected abstract URI uri();

  /** Throws if the connection has ended. */
  protected abstract void checkOpen();

  /** {@return the connection's sender} */
  protected abstract Sender sender();

  /**
   * Returns remote memory as the provider's type.
   *
   * @param memory the argument given by the program
   * @return the memory
   * @throws IllegalArgumentException if it was not attached by this Rma
   */
  protected abstract R remote(RemoteMemory memory);

  /**
   * Starts an operation, or performs it entirely. The ranges are within both pieces of memory, and
   * the handle permits the access. An atomic operation is on aligned words; its operands are {@link
   * #swaps}, {@link #operand} and {@link #desired}, and the local word gets the previous value.
   *
   * @param right the kind of access
   * @param local the memory on this side
   * @param localOffset the offset in the local memory, in bytes
   * @param remote the peer's memory
   * @param remoteOffset the offset in the peer's memory, in bytes
   * @param length the number of bytes
   * @param id the operation's id
   * @return false if it did not start, for lack of space: at once if it {@link #tries}, otherwise
   *     at the {@link #deadline}. The next operation then gets its id
   * @throws RemoteAccessException if the operation fails; the next one then gets its id
   * @throws IllegalArgumentException if an operation of that length never starts without waiting,
   *     and this one tries
   */
  protected abstract boolean begin(
      RmaRight right, L local, long localOffset, R remote, long remoteOffset, long length, long id);

  /** {@return whether the operation that begins must not wait} */
  protected final boolean tries() {
    return tries;
  }

  /**
   * {@return the time until which the operation that begins may wait, by System.nanoTime; or {@link
   * Deadlines#NEVER}}
   */
  protected final long deadline() {
    return deadline;
  }

  /**
   * Checks that atomic operations are possible, on both sides of them.
   *
   * @throws UnsupportedOperationException if they are not; by default they are
   */
  protected void checkAtomics() {}

  /** {@return whether the atomic operation that begins compares and swaps; otherwise it adds} */
  protected final boolean swaps() {
    return swaps;
  }

  /** {@return the number to add, or the expected value, of the atomic operation that begins} */
  protected final long operand() {
    return operand;
  }

  /** {@return the value that the atomic operation that begins sets, if it swaps} */
  protected final long desired() {
    return desired;
  }

  /**
   * Returns whether all operations up to an id have completed or failed. Throws if they never will.
   *
   * @param id the id of a started operation
   * @return true if they have
   */
  protected abstract boolean isDone(long id);

  /**
   * Waits until all operations up to an id have completed or failed.
   *
   * @param id the id of a started operation
   * @param deadline the deadline, by System.nanoTime; or {@link Deadlines#NEVER}
   * @return false after the deadline
   */
  protected abstract boolean awaitDone(long id, long deadline);

  /**
   * Ensures that a message sent now arrives after an operation takes effect. Waits until the
   * operation is complete, unless a provider overrides this with a cheaper mechanism.
   *
   * @param id the id of a started operation
   */
  protected void orderBeforeMessage(long id) {
    await(id);
  }

  /**
   * Validates the arguments of {@link Rma#expose}.
   *
   * @param memory the memory
   * @param rights the peer's rights
   * @return the rights
   * @throws IllegalArgumentException as specified by {@link Rma#expose}
   * @throws UnsupportedOperationException as thrown by {@link #checkAtomics}
   */
  protected final Set<RmaRight> checkExposable(MemorySegment memory, RmaRight... rights) {
    Registrations.check(memory);
    Set<RmaRight> all = checkRights(rights);
    if (memory.isReadOnly() && (all.contains(RmaRight.WRITE) || all.contains(RmaRight.ATOMIC))) {
      throw new IllegalArgumentException(
          "read-only memory cannot be exposed for writes or atomic operations");
    }
    return all;
  }

  private Set<RmaRight> checkRights(RmaRight... rights) {
    if (rights.length == 0) {
      throw new IllegalArgumentException(
          "no right given: expose memory for reads, writes or atomic operations");
    }
    Set<RmaRight> all = EnumSet.copyOf(Arrays.asList(rights));
    if (all.contains(RmaRight.ATOMIC)) {
      checkAtomics();
    }
    return all;
  }

  /**
   * Validates the arguments of {@link Rma#allocate}.
   *
   * @param size the size in bytes
   * @param rights the peer's rights
   * @return the rights
   * @throws IllegalArgumentException as specified by {@link Rma#allocate}
   * @throws UnsupportedOperationException as thrown by {@link #checkAtomics}
   */
  protected final Set<RmaRight> checkAllocatable(long size, RmaRight... rights) {
    if (size < 1) {
      throw new IllegalArgumentException("invalid size: " + size + " bytes; the minimum is 1");
    }
    return checkRights(rights);
  }

  /**
   * Decodes a handle.
   *
   * @param handle the handle given by the program
   * @return the content of the handle
   * @throws RemoteAccessException if the handle is malformed
   */
  protected final RmaKey decode(RmaHandle handle) {
    return RmaKey.decode(handle)
        .orElseThrow(() ->
            new RemoteAccessException(
                uri(),
                "invalid handle: not created by this version of Ferrule; use the same release on both"
                    + " sides",
                null));
  }

  /** {@return the exception for a handle of memory that is not exposed to this side} */
  protected final RemoteAccessException notExposed() {
    return new RemoteAccessException(
        uri(),
        "the memory is not exposed: the handle belongs to another connection, is of this side's own"
            + " memory or was forged, or the peer has revoked the access",
        null);
  }

  /** {@return the exception for attached memory that is exposed no longer} */
  protected final RemoteAccessException revoked() {
    return new RemoteAccessException(uri(), REVOKED, null);
  }

  /**
   * Returns the exception for exceeding the limit of exposed memory.
   *
   * @param limit the maximum number of pieces
   * @return the exception
   */
  protected final ResourceExhaustedException tooMuchExposed(int limit) {
    return new ResourceExhaustedException(
        uri(),
        limit
            + " pieces of memory are exposed over this connection, which is the limit; close some,"
            + " or expose larger ones",
        null);
  }

  /**
   * Records that an operation has failed. The failure is thrown by the next check of its id or of a
   * later one.
   *
   * @param id the operation's id
   * @param reason why
   */
  protected final void failed(long id, String reason) {
    String message = "operation " + id + " failed: " + reason;
    failures.putIfAbsent(id, new RemoteAccessException(uri(), message, null, id));
  }

  @Override
  public final long write(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length) {
    return run(RmaRight.WRITE, local, localOffset, remote, remoteOffset, length, null);
  }

  @Override
  public final long write(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length,
      Duration timeout) {
    return orTimeout(
        run(RmaRight.WRITE, local, localOffset, remote, remoteOffset, length, timeout));
  }

  @Override
  public final long tryWrite(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length) {
    return run(RmaRight.WRITE, local, localOffset, remote, remoteOffset, length, Duration.ZERO);
  }

  @Override
  public final long read(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length) {
    return run(RmaRight.READ, local, localOffset, remote, remoteOffset, length, null);
  }

  @Override
  public final long read(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length,
      Duration timeout) {
    return orTimeout(run(RmaRight.READ, local, localOffset, remote, remoteOffset, length, timeout));
  }

  @Override
  public final long tryRead(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length) {
    return run(RmaRight.READ, local, localOffset, remote, remoteOffset, length, Duration.ZERO);
  }

  private long orTimeout(long id) {
    if (id == NOT_STARTED) {
      throw new OperationTimeoutException(
          uri(),
          "the access was not started: timed out waiting for earlier accesses to the peer's memory",
          null);
    }
    return id;
  }

  private long run(
      RmaRight right,
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length,
      @Nullable Duration timeout) {
    checkOpen();
    L from = recent.use(local);
    R to = remote(remote);
    if (right == RmaRight.READ) {
      checkWritable(from);
    }
    checkRange("local", localOffset, length, from.segment().byteSize());
    checkRange("remote", remoteOffset, length, to.length());
    checkAllows(to, right);
    return start(right, from, localOffset, to, remoteOffset, length, timeout);
  }

  private long start(
      RmaRight right,
      L local,
      long localOffset,
      R remote,
      long remoteOffset,
      long length,
      @Nullable Duration timeout) {
    tries = timeout != null && !timeout.isPositive();
    deadline = timeout == null || tries ? Deadlines.NEVER : Deadlines.after(timeout);
    if (!begin(right, local, localOffset, remote, remoteOffset, length, lastId + 1)) {
      return NOT_STARTED;
    }
    lastId++;
    return lastId;
  }

  private static void checkRange(String side, long offset, long length, long size) {
    if ((offset | length) < 0 || offset > size - length) {
      throw new IndexOutOfBoundsException(
          "the access exceeds the %s memory: %s bytes at offset %s of %s bytes"
              .formatted(side, length, offset, size));
    }
  }

  private static void checkWritable(MemoryUse local) {
    if (local.segment().isReadOnly()) {
      throw new IllegalArgumentException(
          "the local memory of a read or an atomic operation must not be read-only");
    }
  }

  private void checkAllows(RemoteMemory remote, RmaRight right) {
    if (!remote.allows(right)) {
      throw new RemoteAccessException(
          uri(),
          "the peer has not exposed the memory for "
              + right
              + ": it must pass this right to Rma.expose or Rma.allocate",
          null);
    }
  }

  @Override
  public final long fetchAndAdd(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long addend) {
    return runAtomic(false, local, localOffset, remote, remoteOffset, addend, 0, null);
  }

  @Override
  public final long fetchAndAdd(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long addend,
      Duration timeout) {
    return orTimeout(
        runAtomic(false, local, localOffset, remote, remoteOffset, addend, 0, timeout));
  }

  @Override
  public final long tryFetchAndAdd(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long addend) {
    return runAtomic(false, local, localOffset, remote, remoteOffset, addend, 0, Duration.ZERO);
  }

  @Override
  public final long compareAndSwap(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long expected,
      long desired) {
    return runAtomic(true, local, localOffset, remote, remoteOffset, expected, desired, null);
  }

  @Override
  public final long compareAndSwap(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long expected,
      long desired,
      Duration timeout) {
    return orTimeout(
        runAtomic(true, local, localOffset, remote, remoteOffset, expected, desired, timeout));
  }

  @Override
  public final long tryCompareAndSwap(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long expected,
      long desired) {
    return runAtomic(
        true, local, localOffset, remote, remoteOffset, expected, desired, Duration.ZERO);
  }

  private long runAtomic(
      boolean swap,
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long first,
      long second,
      @Nullable Duration timeout) {
    checkOpen();
    L target = recent.use(local);
    R word = remote(remote);
    checkAtomics();
    checkWritable(target);
    checkRange("local", localOffset, Long.BYTES, target.segment().byteSize());
    checkRange("remote", remoteOffset, Long.BYTES, word.length());
    checkAligned(
        (target.segment().address() + localOffset) % Long.BYTES == 0, "local", localOffset);
    checkAligned(word.isWord(remoteOffset), "remote", remoteOffset);
    checkAllows(word, RmaRight.ATOMIC);
    swaps = swap;
    operand = first;
    desired = second;
    return start(RmaRight.ATOMIC, target, localOffset, word, remoteOffset, Long.BYTES, timeout);
  }

  private static void checkAligned(boolean aligned, String side, long offset) {
    if (!aligned) {
      throw new IllegalArgumentException(
          "the "
              + side
              + " word at offset "
              + offset
              + " is not aligned: the memory's address plus the offset must be a multiple of 8");
    }
  }

  @Override
  public final long writeAndSend(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length,
      MemorySegment message) {
    checkOpen();
    int ignored = sender().staged(); // throws if the sender is closed, before anything is written
    if (message.byteSize() > sender().maxMessage()) {
      throw new MessageTooLongException(uri(), message.byteSize(), sender().maxMessage());
    }
    long id = write(local, localOffset, remote, remoteOffset, length);
    orderBeforeMessage(id);
    sender().send(message);
    return id;
  }

  @Override
  public final boolean isComplete(long id) {
    checkId(id);
    boolean done = isDone(id);
    if (done) {
      checkFailures(id);
    }
    return done;
  }

  @Override
  public final void await(long id) {
    checkId(id);
    awaitDone(id, Deadlines.NEVER);
    checkFailures(id);
  }

  @Override
  public final void await(long id, Duration timeout) {
    checkId(id);
    if (!awaitDone(id, Deadlines.after(timeout))) {
      throw new OperationTimeoutException(
          uri(),
          "timed out waiting for operation " + id + ", which continues; await it again",
          null);
    }
    checkFailures(id);
  }

  private void checkId(long id) {
    if (id < 1 || id > lastId) {
      throw new IllegalArgumentException(
          "unknown operation id " + id + "; the last id is " + lastId);
    }
  }

  private void checkFailures(long id) {
    if (failures.isEmpty()) {
      return;
    }
    Map.Entry<Long, RemoteAccessException> first = failures.firstEntry();
    if (first.getKey() <= id) {
      failures.headMap(id, true).clear(); // one exception reports all of them
      throw first.getValue();
    }
  }

  @Override
  public String toString() {
    return "remote memory access of " + uri();
  }
}
