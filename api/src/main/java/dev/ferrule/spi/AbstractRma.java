// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

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
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * What the remote memory access of all providers does alike: checks, ids, and which failure is told
 * to whom.
 *
 * @param <L> the provider's registered memory
 * @param <R> the provider's remote memory
 */
public abstract class AbstractRma<L extends RegisteredMemory, R extends RemoteMemory>
    implements Rma {

  // Also whoever closes registered memory may find out that an operation has failed.
  private final ConcurrentSkipListMap<Long, RemoteAccessException> failures =
      new ConcurrentSkipListMap<>();
  private long lastId;

  /** For providers. */
  protected AbstractRma() {}

  /**
   * Returns what names the connection in exceptions.
   *
   * @return the connection's URI
   */
  protected abstract URI uri();

  /** Throws if the connection has ended. */
  protected abstract void checkOpen();

  /**
   * Returns the connection's sender.
   *
   * @return the sender
   */
  protected abstract Sender sender();

  /**
   * Returns memory as the provider's.
   *
   * @param memory what the program calls registered
   * @return the memory
   * @throws IllegalArgumentException if it is not registered with this connection
   * @throws IllegalStateException if its registration is closed
   */
  protected abstract L local(RegisteredMemory memory);

  /**
   * Returns memory as the provider's.
   *
   * @param memory what the program calls remote
   * @return the memory
   * @throws IllegalArgumentException if it was not attached by this
   */
  protected abstract R remote(RemoteMemory memory);

  /**
   * Begins an operation, which is within both pieces of memory, and allowed as far as the handle
   * says; or does all of it.
   *
   * @param right whether it writes or reads
   * @param local where the bytes come from or go to on this side
   * @param localOffset where in it
   * @param remote the peer's memory
   * @param remoteOffset where in it
   * @param length how many bytes
   * @param id its id
   * @throws RemoteAccessException if it cannot be done; the id is given to the next one then
   */
  protected abstract void begin(
      RmaRight right, L local, long localOffset, R remote, long remoteOffset, long length, long id);

  /**
   * Tells whether all operations up to one are done, or have failed; throws if they never will be.
   *
   * @param id an id that was begun
   * @return whether they are
   */
  protected abstract boolean isDone(long id);

  /**
   * Waits until all operations up to one are done, or have failed.
   *
   * @param id an id that was begun
   * @param bounded whether there is a deadline
   * @param deadline until when, by System.nanoTime; only looked at if bounded
   * @return false after the deadline
   */
  protected abstract boolean awaitDone(long id, boolean bounded, long deadline);

  /**
   * Sees to it that a message which is sent now comes after an operation. Waits until the operation
   * is done, unless the provider knows better.
   *
   * @param id an id that was begun
   */
  protected void orderBeforeMessage(long id) {
    await(id);
  }

  /**
   * Checks what is to be exposed.
   *
   * @param memory the memory
   * @param rights what the peer may do
   * @return the rights
   * @throws IllegalArgumentException as {@link Rma#expose} says
   */
  protected static Set<RmaRight> checkExposable(MemorySegment memory, RmaRight... rights) {
    Registrations.check(memory);
    Set<RmaRight> all = checkRights(rights);
    if (memory.isReadOnly() && all.contains(RmaRight.WRITE)) {
      throw new IllegalArgumentException("memory that is read-only cannot be exposed for writes");
    }
    return all;
  }

  private static Set<RmaRight> checkRights(RmaRight... rights) {
    if (rights.length == 0) {
      throw new IllegalArgumentException("memory is exposed for reads, writes or both");
    }
    return EnumSet.copyOf(Arrays.asList(rights));
  }

  /**
   * Checks what is to be allocated.
   *
   * @param size how many bytes
   * @param rights what the peer may do
   * @return the rights
   * @throws IllegalArgumentException as {@link Rma#allocate} says
   */
  protected static Set<RmaRight> checkAllocatable(long size, RmaRight... rights) {
    if (size < 1) {
      throw new IllegalArgumentException("a size of " + size + " bytes; it is at least 1");
    }
    return checkRights(rights);
  }

  /**
   * Reads a handle.
   *
   * @param handle what the program calls one
   * @return what it says
   * @throws RemoteAccessException if it is none
   */
  protected final RmaKey decode(RmaHandle handle) {
    return RmaKey.decode(handle)
        .orElseThrow(
            () ->
                new RemoteAccessException(
                    uri(), "these bytes are no handle of this version of Ferrule", null));
  }

  /**
   * Says that memory is not there for this side.
   *
   * @return what to throw
   */
  protected final RemoteAccessException notExposed() {
    return new RemoteAccessException(
        uri(),
        "the peer does not expose that memory: the handle is another connection's, or was forged, or"
            + " the peer has taken the memory back",
        null);
  }

  /**
   * Says that no more memory can be exposed.
   *
   * @param limit how many pieces can be
   * @return what to throw
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
   * Notes that an operation has failed, to be told to whoever asks for it or for one behind it.
   *
   * @param id its id
   * @param failure why
   */
  protected final void failed(long id, RemoteAccessException failure) {
    failures.putIfAbsent(id, failure);
  }

  @Override
  public final long write(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length) {
    return run(RmaRight.WRITE, local, localOffset, remote, remoteOffset, length);
  }

  @Override
  public final long read(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length) {
    if (local.segment().isReadOnly()) {
      throw new IllegalArgumentException("nothing can be read into memory that is read-only");
    }
    return run(RmaRight.READ, local, localOffset, remote, remoteOffset, length);
  }

  private long run(
      RmaRight right,
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length) {
    checkOpen();
    L from = local(local);
    R to = remote(remote);
    Objects.checkFromIndexSize(localOffset, length, from.segment().byteSize());
    Objects.checkFromIndexSize(remoteOffset, length, to.length());
    if (!to.allows(right)) {
      throw new RemoteAccessException(
          uri(), "the peer has not exposed that memory for " + right + ": see Rma.expose", null);
    }
    begin(right, from, localOffset, to, remoteOffset, length, lastId + 1);
    lastId++;
    return lastId;
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
    if (message.byteSize() > sender().maxMessageSize()) {
      throw new MessageTooLongException(uri(), message.byteSize(), sender().maxMessageSize());
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
    awaitDone(id, false, 0);
    checkFailures(id);
  }

  @Override
  public final void await(long id, Duration timeout) {
    checkId(id);
    if (!awaitDone(id, true, Deadlines.after(timeout))) {
      throw new OperationTimeoutException(
          uri(), "operation " + id + " was not complete in time", null);
    }
    checkFailures(id);
  }

  private void checkId(long id) {
    if (id < 1 || id > lastId) {
      throw new IllegalArgumentException(
          "no operation of this Rma has the id " + id + "; the last one was " + lastId);
    }
  }

  private void checkFailures(long id) {
    if (failures.isEmpty()) {
      return;
    }
    Map.Entry<Long, RemoteAccessException> first = failures.firstEntry();
    if (first.getKey() <= id) {
      failures.pollFirstEntry();
      throw first.getValue();
    }
  }
}
