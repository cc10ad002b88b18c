// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.queue;

import dev.ferrule.ConnectionState;
import dev.ferrule.MessageTooLongException;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The sending half. A message is complete when it is published. */
final class QueueSender extends QueueHalf<Slot.Outgoing> implements Sender {

  private static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

  private final int maxMessage;
  private final int slots;
  private final ArrayDeque<Slot.Outgoing> free; // guarded by the lock, like the rest
  private final ArrayDeque<Slot.Outgoing> staged;
  private final List<Slot.Outgoing> all = new ArrayList<>();
  private int claimed;
  boolean closed;
  private long lastId;
  long sent;
  long bytes;
  long stalls;

  /** Creates the half that sends to a receiver. */
  QueueSender(QueueConnection connection, QueueReceiver receiver) {
    super(connection, "buffer space: the peer is not receiving");
    maxMessage = receiver.maxMessage;
    slots = receiver.slots.size();
    free = new ArrayDeque<>(slots);
    staged = new ArrayDeque<>(slots);
    MemorySegment memory = connection.arena.allocate(receiver.slotBytes * slots, 8);
    receiver.slots.forEach(target -> all.add(new Slot.Outgoing(this, memory, target)));
    free.addAll(all);
  }

  /** Checks that neither side has closed, and that this sender is open. Called with the lock. */
  private void checkOpen() {
    checkNotClosed();
    connection.checkOpen();
  }

  private void checkNotClosed() {
    if (closed) {
      throw new IllegalStateException("the sender is closed");
    }
  }

  @Override
  Slot.@Nullable Outgoing lendNext() {
    checkOpen();
    Slot.Outgoing slot = free.poll();
    if (slot != null) {
      slot.lent = true;
      claimed++;
    }
    return slot;
  }

  @Override
  void beforeWait() {
    stalls++;
    flush();
    if (claimed == slots) {
      throw new IllegalStateException("this program has claimed all buffer space");
    }
  }

  void abort(Slot.Outgoing slot) {
    synchronized (lock) {
      if (!connection.isClosed()) {
        checkThread();
        takeBack(slot);
        free.push(slot);
      }
    }
  }

  void close(Slot.Outgoing slot) {
    synchronized (lock) {
      if (slot.lent) {
        abort(slot);
      }
    }
  }

  private void takeBack(Slot.Outgoing slot) {
    slot.checkLent();
    slot.lent = false;
    claimed--;
  }

  /** Called with the lock by the receiver, which has freed a slot of this sender. */
  void freed(Slot.Outgoing slot) {
    free.push(slot);
    lock.notifyAll();
  }

  @Override
  public int maxMessage() {
    return maxMessage;
  }

  @Override
  public SendRegion claim(int length) {
    return slot(length, FOREVER);
  }

  @Override
  public SendRegion claim(int length, Duration timeout) {
    return slot(length, timeout);
  }

  @Override
  public @Nullable SendRegion tryClaim(int length) {
    return trySlot(length);
  }

  private Slot.Outgoing slot(long length, Duration timeout) {
    checkLength(length);
    Slot.Outgoing slot = lend(TimeUnit.NANOSECONDS.convert(timeout));
    slot.length = (int) length;
    return slot;
  }

  private Slot.@Nullable Outgoing trySlot(long length) {
    synchronized (lock) {
      checkThread();
      checkLength(length);
      Slot.Outgoing slot = lendNext();
      if (slot == null) {
        stalls++;
        flush();
      } else {
        slot.length = (int) length;
      }
      return slot;
    }
  }

  /** The end of the connection takes precedence over a wrong argument. */
  private void checkLength(long length) {
    synchronized (lock) {
      checkOpen();
    }
    if (length < 0) {
      throw new IllegalArgumentException("negative length: " + length);
    }
    if (length > maxMessage) {
      throw new MessageTooLongException(connection.uri(), length, maxMessage);
    }
  }

  long commit(Slot.Outgoing slot, int length) {
    synchronized (lock) {
      return published(stage(slot, length));
    }
  }

  private long published(long id) {
    if (id != 0) {
      flush();
    }
    return id;
  }

  private MemorySegment own(RegisteredMemory memory) {
    synchronized (lock) {
      checkOpen();
      if (!(memory instanceof QueueConnection.Registration own)) {
        throw new IllegalArgumentException("the memory was registered with another provider");
      }
      own.use(connection);
      return own.segment();
    }
  }

  @Override
  public long send(MemorySegment source, long offset, long length) {
    return published(copy(source, offset, length, FOREVER));
  }

  @Override
  public long send(MemorySegment source, long offset, long length, Duration timeout) {
    return published(copy(source, offset, length, timeout));
  }

  @Override
  public long trySend(MemorySegment source, long offset, long length) {
    return published(copy(source, offset, length, null));
  }

  @Override
  public long sendRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length) {
    return published(gather(header, payload, offset, length, FOREVER));
  }

  @Override
  public long sendRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length, Duration timeout) {
    return published(gather(header, payload, offset, length, timeout));
  }

  @Override
  public long trySendRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length) {
    return published(gather(header, payload, offset, length, null));
  }

  @Override
  public long stage(MemorySegment source, long offset, long length) {
    return copy(source, offset, length, FOREVER);
  }

  @Override
  public long stage(MemorySegment source, long offset, long length, Duration timeout) {
    return copy(source, offset, length, timeout);
  }

  @Override
  public long tryStage(MemorySegment source, long offset, long length) {
    return copy(source, offset, length, null);
  }

  @Override
  public long stageRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length) {
    return gather(header, payload, offset, length, FOREVER);
  }

  @Override
  public long stageRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length, Duration timeout) {
    return gather(header, payload, offset, length, timeout);
  }

  @Override
  public long tryStageRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length) {
    return gather(header, payload, offset, length, null);
  }

  private long copy(MemorySegment source, long offset, long length, @Nullable Duration timeout) {
    synchronized (lock) {
      checkOpen();
    }
    Objects.checkFromIndexSize(offset, length, source.byteSize());
    return stage(MemorySegment.NULL, source, offset, length, timeout);
  }

  private long gather(
      MemorySegment header,
      RegisteredMemory payload,
      long offset,
      int length,
      @Nullable Duration timeout) {
    MemorySegment source = own(payload);
    Objects.checkFromIndexSize(offset, (long) length, source.byteSize());
    checkLength(header.byteSize());
    return stage(header, source, offset, length, timeout);
  }

  /** Stages a message; returns 0 if there is no slot, and the timeout is null. */
  private long stage(
      MemorySegment header,
      MemorySegment source,
      long offset,
      long length,
      @Nullable Duration timeout) {
    long first = header.byteSize();
    Slot.Outgoing slot = timeout == null ? trySlot(first + length) : slot(first + length, timeout);
    if (slot == null) {
      return 0;
    }
    synchronized (lock) { // so that no thread closes the memory meanwhile
      checkOpen();
      try {
        MemorySegment.copy(header, 0, slot.memory, slot.offset, first);
        MemorySegment.copy(source, offset, slot.memory, slot.offset + first, length);
      } catch (RuntimeException e) { // the header or the source cannot be read
        slot.abort();
        throw e;
      }
      return stage(slot, slot.length);
    }
  }

  long stage(Slot.Outgoing slot, int length) {
    synchronized (lock) {
      checkThread();
      checkOpen();
      slot.checkLent();
      if (length < 0 || length > slot.length) {
        throw new IllegalArgumentException(length + " bytes of a region of " + slot.length);
      }
      takeBack(slot);
      slot.length = length;
      staged.add(slot);
      return ++lastId;
    }
  }

  @Override
  public int staged() {
    synchronized (lock) {
      checkNotClosed();
      return staged.size();
    }
  }

  @Override
  public void flush() {
    synchronized (lock) {
      checkThread();
      checkNotClosed();
      if (staged.isEmpty()) {
        return;
      }
      checkOpen();
      while (!staged.isEmpty()) {
        Slot.Outgoing slot = staged.poll();
        slot.target.receiver.arrive(slot);
        sent++;
        bytes += slot.length;
      }
      lock.notifyAll();
    }
  }

  @Override
  public boolean isComplete(long id) {
    synchronized (lock) {
      checkNotClosed();
      if (id < 1 || id > lastId) {
        throw new IllegalArgumentException("no message has the id " + id);
      }
      return id <= sent;
    }
  }

  @Override
  public void await(long id) {
    if (!isComplete(id)) {
      flush();
    }
  }

  @Override
  public void await(long id, Duration timeout) {
    await(id);
  }

  @Override
  public void close() {
    synchronized (lock) {
      checkThread();
      if (closed) {
        return;
      }
      if (connection.state() == ConnectionState.OPEN) {
        flush();
        all.stream().filter(slot -> slot.lent).forEach(this::abort);
      }
      closed = true;
      lock.notifyAll();
    }
  }

  @Override
  public String toString() {
    return "sender of " + connection.uri();
  }
}
