// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.OperationTimeoutException;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.rdma.queue.Outbox;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.support.AbstractSender;
import dev.ferrule.support.Deadlines;
import dev.ferrule.support.RecentMemory;
import dev.ferrule.support.SingleThreadedUse;
import dev.ferrule.support.Waiter;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A sender: claims regions, sends messages and batches them, by an {@link Outbox} of the
 * connection's send queue.
 */
final class RdmaSender extends AbstractSender {

  private static final int REGIONS_AT_ONCE = 64;

  private final RdmaConnection connection;
  private final SendQueue queue;
  private final Outbox outbox;
  private final ReceiveQueue receives; // polled for credits
  private final Waiter waiter;
  private final int maxRegions;
  private final RoomCondition roomCondition = new RoomCondition();
  private final CompletionCondition completionCondition = new CompletionCondition();
  private final SingleThreadedUse use;
  private final Sender checked;
  private final Consumer<RdmaSender> whenClosed;

  private final List<RdmaSendRegion> regions = new ArrayList<>();
  private RdmaSendRegion[] idle = {}; // a stack: the last used region is the warmest in the cache
  private int idleCount;
  private int requestedLength; // what a waiting thread has requested
  private int requestedMemory; // bytes of it that are not in registered memory
  private int reservedPlace; // the result for that thread
  private long awaitedId;
  private final AtomicBoolean requestsRoom = new AtomicBoolean(); // by a readiness

  private final @Nullable RdmaMemoryUse[] sources = // of staged messages
      new RdmaMemoryUse[SendQueue.MAX_CHAIN];
  private int sourceCount;
  private final RecentMemory<RdmaMemoryUse> recentMemory;

  private long bytesStaged;
  private long bytesPublished;
  private boolean closed; // by the program

  /**
   * Creates a sender.
   *
   * @param name the start of its name in exceptions, such as "the sender of "
   * @param unacked the maximum number of unacknowledged messages
   * @param whenClosed called when the program has closed it
   */
  RdmaSender(
      RdmaConnection connection,
      String name,
      SendQueue queue,
      ReceiveQueue receives,
      int maxMessage,
      int unacked,
      Waiter waiter,
      Consumer<RdmaSender> whenClosed) {
    super(maxMessage);
    this.use = new SingleThreadedUse(() -> name + connection.uri());
    this.checked = use.check(this);
    this.connection = connection;
    this.queue = queue;
    this.outbox = queue.newOutbox();
    this.receives = receives;
    this.maxRegions = unacked;
    this.waiter = waiter;
    this.whenClosed = whenClosed;
    this.recentMemory = new RecentMemory<>(connection.registeredMemory());
  }

  @Override
  protected URI uri() {
    return connection.uri();
  }

  @Override
  protected void checkOpen() {
    checkNotClosed();
    connection.life().checkOpen();
  }

  private void checkNotClosed() {
    if (closed) {
      throw new IllegalStateException("the sender is closed");
    }
  }

  @Override
  protected SendRegion lend(int place, int length) {
    if (idleCount == 0) {
      addRegions();
    }
    RdmaSendRegion region = idle[--idleCount];
    region.lend(place, length, outbox.memory(place), outbox.offset(place));
    return region;
  }

  void checkNotReleased() {
    connection.life().checkNotReleased();
  }

  /** Adds regions. Their number is bounded by the messages that may be unacknowledged. */
  private void addRegions() {
    int count = Math.min(REGIONS_AT_ONCE, maxRegions - regions.size());
    idle = new RdmaSendRegion[regions.size() + count];
    for (int i = 0; i < count; i++) {
      RdmaSendRegion region = new RdmaSendRegion(this, use);
      regions.add(region);
      idle[idleCount++] = region;
    }
  }

  /** Returns this sender with the check for use by one thread. */
  Sender checked() {
    return checked;
  }

  void release(RdmaSendRegion region) {
    idle[idleCount++] = region;
    outbox.unreserve(region.place(), region.length());
  }

  /** Stages the message of a region. {@link #publish} posts it. */
  long stage(RdmaSendRegion region, int length) {
    region.takeBack();
    idle[idleCount++] = region;
    return stage(region.place(), region.length(), length);
  }

  @Override
  protected long stageGather(
      MemorySegment header,
      RegisteredMemory payload,
      long offset,
      int length,
      @Nullable Duration timeout) {
    checkOpen();
    RdmaMemoryUse registered = recentMemory.use(payload);
    MemorySegment segment = registered.segment();
    int total = totalLength(header, segment, offset, length);
    int headerLength = total - length;
    if (length == 0
        || total <= queue.inlineMax() // an inline message is copied when it is posted
        || (headerLength > 0 && !queue.gathers())) {
      return copyAndStage(header, headerLength, segment, offset, length, timeout);
    }
    int place = reserve(total, headerLength, timeout);
    if (place == FULL) {
      return NO_SPACE;
    }
    boolean usable = false;
    try {
      copy(header, 0, headerLength, place, 0);
      registered.stage(); // another thread may have closed it during the wait for space
      usable = true;
    } catch (IllegalStateException e) {
      throw connection.life().isReleased() ? connection.life().exception(e) : e;
    } finally {
      if (!usable) {
        outbox.unreserve(place, total);
      }
    }
    sources[sourceCount++] = registered;
    bytesStaged += total;
    long address = segment.address() + offset;
    if (!outbox.stageGather(place, headerLength, address, length, registered.localKey())) {
      publish();
    }
    return outbox.lastId();
  }

  private void copy(MemorySegment source, long offset, int length, int place, int start) {
    if (length > 0) {
      MemorySegment target = outbox.memory(place);
      MemorySegment.copy(source, offset, target, outbox.offset(place) + start, length);
    }
  }

  @Override
  protected long sendCopy(
      MemorySegment source, long offset, long length, @Nullable Duration timeout) {
    checkOpen();
    Objects.checkFromIndexSize(offset, length, source.byteSize());
    checkLength(length);
    int result = outbox.trySend(source, offset, (int) length);
    if (result == SendQueue.FULL) {
      return published(copyAndStage(MemorySegment.NULL, 0, source, offset, (int) length, timeout));
    }
    foundRoom((int) length);
    bytesStaged += length;
    bytesPublished = bytesStaged;
    checkTaken(result != SendQueue.FAILED);
    return outbox.lastId();
  }

  /** Copies a message to the send memory. {@link #publish} posts it. */
  @Override
  protected long stageCopy(
      MemorySegment source, long offset, long length, @Nullable Duration timeout) {
    checkOpen();
    Objects.checkFromIndexSize(offset, length, source.byteSize());
    checkLength(length);
    return copyAndStage(MemorySegment.NULL, 0, source, offset, (int) length, timeout);
  }

  /** Stages a copy of a message, behind an optional header. */
  private long copyAndStage(
      MemorySegment header,
      int headerLength,
      MemorySegment source,
      long offset,
      int length,
      @Nullable Duration timeout) {
    int total = headerLength + length;
    int place = reserve(total, total, timeout);
    if (place == FULL) {
      return NO_SPACE;
    }
    boolean copied = false;
    try {
      copy(header, 0, headerLength, place, 0);
      copy(source, offset, length, place, headerLength);
      copied = true;
    } catch (IllegalStateException e) {
      throw connection.life().isReleased() ? connection.life().exception(e) : e;
    } finally {
      if (!copied) {
        outbox.unreserve(place, total); // the source may be closed, or confined to another thread
      }
    }
    return stage(place, total, total);
  }

  /** Stages a message, and posts the batch if it has the maximum length of one call. */
  private long stage(int place, int reservedLength, int length) {
    bytesStaged += length;
    if (!outbox.stage(place, reservedLength, length)) {
      publish();
    }
    return outbox.lastId();
  }

  /** Posts all staged messages. */
  @Override
  protected void publish() {
    bytesPublished = bytesStaged;
    boolean taken;
    try {
      taken = outbox.publish();
    } finally {
      while (sourceCount > 0) {
        sourceCount--;
        Objects.requireNonNull(sources[sourceCount]).posted(outbox.lastNumber());
        sources[sourceCount] = null;
      }
    }
    checkTaken(taken);
  }

  private void checkTaken(boolean taken) {
    if (!taken) {
      throw connection.life().exception(null);
    }
  }

  @Override
  public int staged() {
    checkNotClosed();
    return outbox.staged();
  }

  @Override
  protected long lastId() {
    return outbox.lastId();
  }

  @Override
  public boolean isComplete(long id) {
    checkNotClosed();
    checkId(id);
    return outbox.isComplete(id);
  }

  @Override
  public void await(long id) {
    await(id, Deadlines.NEVER);
  }

  @Override
  public void await(long id, Duration timeout) {
    if (!await(id, Deadlines.after(timeout))) {
      throw new OperationTimeoutException(
          connection.uri(),
          "timed out waiting for message " + id + ": the peer's device has not acknowledged it",
          null);
    }
  }

  private boolean await(long id, long deadline) {
    checkNotClosed();
    checkId(id);
    if (id > outbox.posted()) {
      flush();
    }
    if (outbox.isComplete(id)) {
      return true;
    }
    awaitedId = id;
    return waiter.await(completionCondition, deadline);
  }

  @Override
  protected int reserve(int length, int copied) {
    int place = outbox.reserve(length, copied);
    if (place <= FULL && receives.poll()) {
      place = outbox.reserve(length, copied); // credits may have arrived
    }
    return Math.max(place, FULL);
  }

  @Override
  protected int awaitRoom(int length, int copied, long deadline) {
    requestedLength = length;
    requestedMemory = copied;
    reservedPlace = FULL;
    return waiter.await(roomCondition, deadline) ? reservedPlace : FULL;
  }

  /**
   * Waits for buffer space: for completions, for credits, which arrive with received messages, and
   * for other senders.
   */
  private final class RoomCondition implements EventCondition {

    @Override
    public boolean isReady() {
      connection.life().checkOpen();
      receives.poll();
      reservedPlace = outbox.reserve(requestedLength, requestedMemory);
      if (reservedPlace == SendQueue.HELD) {
        connection.life().checkOpen();
        throw new IllegalStateException(
            "all buffers are claimed by this program: send or abort some regions before claiming"
                + " more");
      }
      return reservedPlace != FULL;
    }

    @Override
    public void arm() {
      receives.arm();
      outbox.armForRoom();
    }

    @Override
    public void disarm() {
      receives.disarm();
    }

    @Override
    public RuntimeException interrupted() {
      return connection.interrupted("send");
    }
  }

  /** Waits for the acknowledgment of a message. */
  private final class CompletionCondition implements EventCondition {

    @Override
    public boolean isReady() {
      if (outbox.isComplete(awaitedId)) {
        return true;
      }
      connection.life().checkOpen();
      return false;
    }

    @Override
    public void arm() {
      queue.arm();
    }

    @Override
    public RuntimeException interrupted() {
      return connection.interrupted("send");
    }
  }

  /**
   * Requests that the readiness shows completions, credits and space that other senders release.
   */
  @Override
  protected void requestRoom() {
    withdrawRequest(); // the request before this one
    receives.arm();
    requestsRoom.set(true);
    outbox.armForRoom();
    if (connection.hasEnded()) {
      withdrawRequest(); // the thread that ended it may have looked before
    }
  }

  /**
   * Withdraws the readiness's request for events. Otherwise each event would repeat the request.
   */
  void withdrawRequest() {
    if (requestsRoom.getAndSet(false)) {
      receives.disarm();
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    giveBack(regions, connection::hasEnded);
    closed = true;
    foundRoom(maxMessage()); // ends its wait for space
    withdrawRequest();
    outbox.close();
    whenClosed.accept(this);
  }

  void wake() {
    waiter.wake();
    onRoom();
  }

  void awaitNoWaiters(long nanos) {
    waiter.awaitNoWaiters(nanos);
  }

  @Override
  public long messages() {
    return outbox.posted();
  }

  @Override
  public long bytes() {
    return bytesPublished;
  }

  @Override
  public long sleeps() {
    return waiter.sleeps();
  }
}
