// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.queue;

import dev.ferrule.MessageHandler;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** The receiving half, which owns the slots that its peer's sender fills. */
final class QueueReceiver extends QueueHalf<Slot.Incoming> implements Receiver {

  private static final int MIN_SLOTS = 8;
  private static final int MAX_SLOTS = 32;
  private static final long MEMORY_BYTES = 4 << 20; // more only for the minimum of slots

  final int maxMessage;
  final long slotBytes;
  final List<Slot.Incoming> slots;
  private final ArrayDeque<Slot.Incoming> arrived; // guarded by the lock, like the rest
  private int held;
  long received;
  long bytes;
  long freed;

  QueueReceiver(QueueConnection connection, int maxMessage) {
    super(connection, "a message");
    this.maxMessage = maxMessage;
    slotBytes = (maxMessage + 7L) & -8L; // each one is aligned to 8 bytes
    long count = Math.clamp(MEMORY_BYTES / slotBytes, MIN_SLOTS, MAX_SLOTS);
    MemorySegment memory = connection.arena.allocate(slotBytes * count, 8);
    slots =
        LongStream.range(0, count)
            .mapToObj(i -> new Slot.Incoming(this, memory, i * slotBytes))
            .toList();
    arrived = new ArrayDeque<>(slots.size());
  }

  /** Called with the lock by the sender, which has checked that this end is not closed. */
  void arrive(Slot.Outgoing source) {
    Slot.Incoming target = source.target;
    target.length = source.length;
    MemorySegment.copy(source.memory, source.offset, target.writable, target.offset, source.length);
    target.source = source;
    arrived.add(target);
  }

  @Override
  Slot.@Nullable Incoming lendNext() {
    connection.checkNotClosed();
    Slot.Incoming slot = arrived.poll();
    if (slot == null) {
      connection.checkMoreMayArrive();
      beforeWait();
      return null;
    }
    slot.lent = true;
    held++;
    received++;
    bytes += slot.length;
    return slot;
  }

  @Override
  void beforeWait() {
    if (held == slots.size()) {
      throw new IllegalStateException("this program holds all messages that there is space for");
    }
  }

  @Override
  public ReceiveRegion receive() {
    return lend(Long.MAX_VALUE);
  }

  @Override
  public ReceiveRegion receive(Duration timeout) {
    return lend(TimeUnit.NANOSECONDS.convert(timeout));
  }

  @Override
  public @Nullable ReceiveRegion tryReceive() {
    synchronized (lock) {
      checkThread();
      return lendNext();
    }
  }

  /** Calls the handler without the lock. A concurrent close does not free the memory. */
  @Override
  public int poll(MessageHandler handler, int limit) {
    int polled = 0;
    do {
      Slot.Incoming slot;
      synchronized (lock) {
        checkThread();
        if (polled > 0 && (arrived.isEmpty() || connection.isClosed())) {
          return polled;
        }
        connection.checkNotClosed();
        if (limit < 1) {
          throw new IllegalArgumentException("limit below 1: " + limit);
        }
        if (arrived.isEmpty()) {
          connection.checkMoreMayArrive();
          return 0;
        }
        slot = lendNext();
        setUser(Thread.currentThread());
      }
      try {
        handler.onMessage(slot.memory, slot.offset, slot.length);
        polled++;
      } finally {
        synchronized (lock) {
          setUser(null);
          takeBack(slot);
        }
      }
    } while (polled < limit);
    return polled;
  }

  @Override
  public int poll(MessageHandler handler, int limit, Duration timeout) {
    int polled = poll(handler, limit);
    if (polled > 0 || !timeout.isPositive()) {
      return polled;
    }
    try (ReceiveRegion first = receive(timeout)) {
      handler.onMessage(first.buffer(), first.offset(), first.length());
    } catch (OperationTimeoutException e) {
      return 0;
    }
    return limit == 1 ? 1 : 1 + poll(handler, limit - 1);
  }

  @Override
  public void free(ReceiveRegion message) {
    synchronized (lock) {
      if (connection.isClosed()) {
        return;
      }
      checkThread();
      if (!(message instanceof Slot.Incoming slot) || slot.receiver != this) {
        throw new IllegalArgumentException("the region belongs to another connection");
      }
      takeBack(slot);
    }
  }

  private void takeBack(Slot.Incoming slot) {
    slot.checkLent();
    slot.lent = false;
    held--;
    freed++;
    slot.source.sender.freed(slot.source);
  }

  @Override
  public String toString() {
    return "receiver of " + connection.uri();
  }
}
