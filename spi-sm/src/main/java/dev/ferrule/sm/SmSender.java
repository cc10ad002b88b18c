// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static dev.ferrule.posix.RawMemory.ALL;

import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.sm.ring.CorruptRingException;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.ring.RingProducer;
import dev.ferrule.support.AbstractSender;
import dev.ferrule.support.RecentMemory;
import dev.ferrule.support.SingleThreadedUse;
import dev.ferrule.support.Waiter;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A sender: claims, sends and batches, over a {@link RingProducer} that handles the layout of
 * messages in shared memory.
 */
final class SmSender extends AbstractSender implements Waiter.Condition {

  private static final int REGIONS_AT_ONCE = 64;

  private final SmConnection connection;
  private final SingleThreadedUse use;
  private final Sender checked; // as passed to the program
  private final Runnable whenClosed;
  private final RingProducer producer;
  private final Waiter waiter;
  private final RecentMemory<SmMemoryUse> recentMemory;

  private final SmSendRegion direct; // the region claimed in place
  private SmSendRegion[] idle = {}; // a stack: the most recently used one is the warmest
  private int idleCount;

  private final List<SmSendRegion> regions = new ArrayList<>();

  private boolean closed;

  private int wantedLength; // the length that a waiting thread requires
  private int wantedLine; // the line that it reserved

  private long messages; // published
  private long bytes; // published
  private long bytesUnpublished; // staged and not published

  /**
   * Creates a sender over a ring.
   *
   * @param whenClosed the action that runs after the program has closed it
   */
  SmSender(
      SmConnection connection,
      SingleThreadedUse use,
      RingProducer producer,
      RingLayout layout,
      Waiter waiter,
      Runnable whenClosed) {
    super(layout.maxMessage());
    this.connection = connection;
    this.use = use;
    this.checked = use.check(this);
    this.producer = producer;
    this.waiter = waiter;
    this.whenClosed = whenClosed;
    this.recentMemory = new RecentMemory<>(connection.registeredMemory());
    this.direct = new SmSendRegion(this, use, InlineMemory.NONE);
    regions.add(direct);
  }

  /** Returns this sender with the check for use by one thread. */
  Sender checked() {
    return checked;
  }

  @Override
  protected URI uri() {
    return connection.uri();
  }

  @Override
  protected void checkOpen() {
    checkNotClosed();
    connection.checkOpen();
  }

  /** Checks that the sender is open: after its close, another sender may use the ring. */
  private void checkNotClosed() {
    if (closed) {
      throw new IllegalStateException("the sender is closed");
    }
  }

  void checkNotReleased() {
    connection.checkNotReleased();
  }

  /**
   * Claims a place in the ring. If another thread closes the connection during this call, reads
   * return zeros.
   */
  @Override
  protected @Nullable SendRegion claimInPlace(int length) {
    try {
      long place = producer.claim(length);
      Reference.reachabilityFence(this);
      if (place == RingProducer.NO_OFFSET) {
        return null;
      }
      direct.lendInPlace(place, length, producer.records());
      return direct;
    } catch (CorruptRingException e) {
      throw connection.failCorrupt(e);
    }
  }

  @Override
  protected SendRegion lend(int line, int length) {
    if (idleCount == 0) {
      addRegions();
    }
    SmSendRegion region = idle[--idleCount];
    if (line == RingProducer.INLINE) {
      region.lendPrivate(length);
    } else {
      region.lendLines(line, length, producer.buffer());
    }
    return region;
  }

  /** Called when the program holds all regions, whose number the room in the ring bounds. */
  private void addRegions() {
    InlineMemory[] more = InlineMemory.allocate(REGIONS_AT_ONCE);
    idle = new SmSendRegion[idle.length + REGIONS_AT_ONCE];
    for (InlineMemory inline : more) {
      SmSendRegion region = new SmSendRegion(this, use, inline);
      idle[idleCount++] = region;
      regions.add(region);
    }
  }

  void release(SmSendRegion region) {
    if (region == direct) {
      producer.abortClaim();
    } else {
      idle[idleCount++] = region;
      producer.unreserve(region.line(), region.length());
    }
  }

  /** Stages a region's message in the ring; not visible to the receiver yet. */
  long stage(SmSendRegion region, int length) {
    if (region == direct) {
      producer.stageClaim(length);
      region.takeBack();
    } else {
      stageCopy(region, length);
    }
    Reference.reachabilityFence(this);
    bytesUnpublished += length;
    return lastId();
  }

  /** A separate method, so that the compiler inlines less into the program's loop. */
  private void stageCopy(SmSendRegion region, int length) {
    if (region.line() == RingProducer.INLINE) {
      producer.stageInline(ALL, region.inlineAddress(), length, region.length());
    } else {
      producer.stageLines(region.line(), length);
    }
    region.takeBack();
    idle[idleCount++] = region;
  }

  @Override
  protected long sendCopy(
      MemorySegment source, long offset, long length, @Nullable Duration timeout) {
    checkOpen();
    return sendAtOnce(source, offset, length)
        ? messages
        : published(stageInSteps(source, offset, length, timeout));
  }

  /** Copies a message to the ring or to payload lines; not visible to the receiver yet. */
  @Override
  protected long stageCopy(
      MemorySegment source, long offset, long length, @Nullable Duration timeout) {
    checkOpen();
    return stageAtOnce(source, offset, length)
        ? lastId()
        : stageInSteps(source, offset, length, timeout);
  }

  /** A separate method, so that the compiler inlines less into the program's loop. */
  private long stageInSteps(
      MemorySegment source, long offset, long length, @Nullable Duration timeout) {
    Objects.checkFromIndexSize(offset, length, source.byteSize());
    checkLength(length);
    int size = (int) length;
    int line = reserve(size, size, timeout);
    if (line == RingProducer.FULL) {
      return NO_SPACE;
    }
    boolean staged = false;
    try {
      if (line == RingProducer.INLINE) {
        producer.stageInline(source, offset, size, size);
      } else {
        producer.write(source, offset, line, size);
        producer.stageLines(line, size);
      }
      staged = true;
    } catch (InternalError e) {
      throw connection.failOwnFile(e);
    } finally {
      if (!staged) {
        producer.unreserve(line, size); // the source may be a closed segment, or another thread's
      }
      Reference.reachabilityFence(this);
    }
    bytesUnpublished += size;
    return lastId();
  }

  private boolean sendAtOnce(MemorySegment source, long offset, long length) {
    int asleep;
    try {
      asleep = producer.trySend(source, offset, length);
    } catch (InternalError e) {
      throw connection.failOwnFile(e);
    }
    if (asleep == RingProducer.NOT_SENT) {
      return false;
    }
    messages++;
    bytes += length;
    foundRoom((int) length);
    if (asleep != 0) {
      wakeReceiver(asleep);
    }
    Reference.reachabilityFence(this);
    return true;
  }

  /** Wakes the receiver; its flag states how it sleeps. */
  private void wakeReceiver(int flag) {
    if (RingProducer.isOnFlag(flag)) {
      connection.countWakeup();
      producer.wakeOnFlag(flag);
    } else if (connection.wakePeer()) {
      producer.clear(flag); // otherwise the next message wakes it again
    }
  }

  private boolean stageAtOnce(MemorySegment source, long offset, long length) {
    boolean staged;
    try {
      staged = producer.tryStage(source, offset, length);
    } catch (InternalError e) {
      throw connection.failOwnFile(e);
    }
    Reference.reachabilityFence(this);
    if (staged) {
      bytesUnpublished += length;
      foundRoom((int) length);
    }
    return staged;
  }

  /** Publishes all staged messages to the receiver. */
  @Override
  protected void publish() {
    int count = producer.messagesUnpublished();
    int asleep = producer.publish();
    messages += count;
    bytes += bytesUnpublished;
    bytesUnpublished = 0;
    if (asleep != 0) {
      wakeReceiver(asleep);
    }
    Reference.reachabilityFence(this);
  }

  @Override
  public int staged() {
    checkNotClosed();
    return producer.messagesUnpublished();
  }

  @Override
  protected long lastId() {
    return messages + producer.messagesUnpublished();
  }

  @Override
  public boolean isComplete(long id) {
    checkNotClosed();
    checkId(id);
    return id <= messages;
  }

  @Override
  public void await(long id) {
    checkNotClosed();
    checkId(id);
    if (id > messages) {
      flush();
    }
  }

  @Override
  public void await(long id, Duration timeout) {
    await(id); // publishing does not wait
  }

  @Override
  protected int reserve(int length, int copied) {
    try {
      int line = producer.reserve(length);
      Reference.reachabilityFence(this);
      return line;
    } catch (CorruptRingException e) {
      throw connection.failCorrupt(e);
    }
  }

  private boolean isReceiverHoldingRoom() {
    try {
      boolean result = producer.isReceiverHoldingRoom();
      Reference.reachabilityFence(this);
      return result;
    } catch (CorruptRingException e) {
      throw connection.failCorrupt(e);
    }
  }

  @Override
  protected int awaitRoom(int length, int copied, long deadline) {
    wantedLength = length;
    wantedLine = RingProducer.FULL;
    return waiter.await(this, deadline) ? wantedLine : RingProducer.FULL;
  }

  @Override
  public boolean isReady() {
    checkOpen();
    wantedLine = reserve(wantedLength, wantedLength);
    if (wantedLine == RingProducer.FULL && !isReceiverHoldingRoom()) {
      // the receiver may have released everything between the two checks
      wantedLine = reserve(wantedLength, wantedLength);
      if (wantedLine == RingProducer.FULL) {
        throw new IllegalStateException(
            "all buffer space is claimed by this program; send or abort regions"
                + " before claiming more");
      }
    }
    return wantedLine != RingProducer.FULL;
  }

  @Override
  public void arm() {
    producer.armSleep();
    Reference.reachabilityFence(this);
  }

  @Override
  public boolean isArmed() {
    boolean result = producer.isSleepArmed();
    Reference.reachabilityFence(this);
    return result;
  }

  @Override
  public void disarm() {
    producer.disarmSleep();
    Reference.reachabilityFence(this);
  }

  @Override
  public RuntimeException interrupted() {
    return connection.interrupted("send");
  }

  /** Copies both parts of a message to its place. */
  @Override
  protected long stageGather(
      MemorySegment header,
      RegisteredMemory payload,
      long offset,
      int length,
      @Nullable Duration timeout) {
    MemorySegment source = segmentOf(payload);
    int total = totalLength(header, source, offset, length);
    int headerLength = total - length;
    if (headerLength == 0) {
      return stageCopy(source, offset, length, timeout);
    }
    // closed, as a source may be a closed segment, or another thread's
    try (SendRegion region = claimWithin(total, timeout)) {
      if (region == null) {
        return NO_SPACE;
      }
      MemorySegment target = region.buffer();
      long start = region.offset();
      MemorySegment.copy(header, 0, target, start, headerLength);
      MemorySegment.copy(source, offset, target, start + headerLength, length);
      return region.stage();
    } catch (InternalError e) {
      throw connection.failOwnFile(e);
    }
  }

  /** Returns the memory of a registration, if it may be used. */
  private MemorySegment segmentOf(RegisteredMemory memory) {
    checkOpen();
    return recentMemory.use(memory).segment();
  }

  @Override
  protected void requestRoom() {
    arm();
  }

  /** Wakes the program that waits for room, which checks again. */
  void wake() {
    waiter.wake();
    onRoom();
  }

  /** Notifies the receiver that all senders are closed. By any thread. */
  void markEnded() {
    int asleep = producer.markEnded();
    if (asleep != 0) {
      wakeReceiver(asleep);
    }
    Reference.reachabilityFence(this);
  }

  /** Notifies the receiver that the last message of all senders was published. */
  void markClosed(int reason) {
    producer.markClosed(reason);
    Reference.reachabilityFence(this);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    giveBack(regions, connection::hasEnded);
    closed = true;
    foundRoom(maxMessage()); // a closed sender waits for none
    whenClosed.run();
  }

  /** Returns the part of the ring that the peer has not consumed. Any thread may call this. */
  double fill() {
    return producer.fill();
  }

  @Override
  public long messages() {
    return messages;
  }

  @Override
  public long bytes() {
    return bytes;
  }

  @Override
  public long sleeps() {
    return waiter.sleeps();
  }
}
