// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.Batch;
import dev.ferrule.MessageTooLongException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.sendrecv.queue.ReceiveQueue;
import dev.ferrule.sendrecv.queue.SendQueue;
import dev.ferrule.spi.Deadlines;
import dev.ferrule.spi.Waiter;
import dev.ferrule.verbs.ProtectionDomain;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The sending half: claims, sends and batches, over a {@link SendQueue}. */
final class SendRecvSender implements Sender {

  private static final int REGIONS_AT_ONCE = 64;

  private final SendRecvConnection connection;
  private final SendQueue queue;
  private final ReceiveQueue receives; // from where credits come
  private final Waiter waiter;
  private final int maxMessageSize;
  private final int maxRegions;
  private final SendRecvBatch batch = new SendRecvBatch(this);
  private final RoomCondition roomCondition = new RoomCondition();
  private final CompletionCondition completionCondition = new CompletionCondition();
  private final Set<SendRecvRegisteredMemory> registrations = ConcurrentHashMap.newKeySet();

  private SendRecvSendRegion[] idle = {}; // a stack: the one used last is the warmest
  private int idleCount;
  private int regions;
  private int wantedLength; // what a waiting thread waits for
  private boolean wantedMemory;
  private int wantedLine; // what it got
  private long wantedId;

  private long bytesStaged;
  private long bytesPublished;
  private long published;
  private long stalls;

  SendRecvSender(
      SendRecvConnection connection,
      SendQueue queue,
      ReceiveQueue receives,
      int maxMessageSize,
      int unacked,
      Waiter waiter) {
    this.connection = connection;
    this.queue = queue;
    this.receives = receives;
    this.maxMessageSize = maxMessageSize;
    this.maxRegions = unacked;
    this.waiter = waiter;
  }

  @Override
  public int maxMessageSize() {
    return maxMessageSize;
  }

  @Override
  public @Nullable SendRegion tryClaim(int length) {
    int line = checkAndReserve(length);
    if (line == SendQueue.FULL) {
      stalls++;
      return null;
    }
    return lend(line, length);
  }

  @Override
  public SendRegion claim(int length) {
    int line = checkAndReserve(length);
    return lend(line == SendQueue.FULL ? awaitRoom(length, true, false, 0) : line, length);
  }

  @Override
  public SendRegion claim(int length, Duration timeout) {
    int line = checkAndReserve(length);
    if (line == SendQueue.FULL) {
      line = awaitRoom(length, true, true, Deadlines.after(timeout));
      if (line == SendQueue.FULL) {
        throw new OperationTimeoutException(
            connection.uri(),
            "no room for a message of " + length + " bytes in time: the peer does not keep up",
            null);
      }
    }
    return lend(line, length);
  }

  private SendRecvSendRegion lend(int line, int length) {
    if (idleCount == 0) {
      addRegions();
    }
    SendRecvSendRegion region = idle[--idleCount];
    region.lend(line, length, queue.memory().segment());
    return region;
  }

  /** There are never more regions than messages that may be unacknowledged. */
  private void addRegions() {
    int count = Math.min(REGIONS_AT_ONCE, maxRegions - regions);
    regions += count;
    idle = new SendRecvSendRegion[regions];
    for (int i = 0; i < count; i++) {
      idle[idleCount++] = new SendRecvSendRegion(this);
    }
  }

  void abort(SendRecvSendRegion region) {
    region.takeBack();
    idle[idleCount++] = region;
    queue.unreserve(region.line());
  }

  @Override
  public long sendAsync(SendRegion region) {
    return sendAsync(region, region.length());
  }

  @Override
  public long sendAsync(SendRegion region, int length) {
    stage(region, length);
    publish();
    return queue.lastId();
  }

  /** Stages a region's message, which is not posted before {@link #publish}. */
  void stage(SendRegion candidate, int length) {
    connection.life().checkOpen();
    if (!(candidate instanceof SendRecvSendRegion region) || !region.belongsTo(this)) {
      throw new IllegalArgumentException("the region was claimed from another connection");
    }
    region.takeBackChecked(length);
    idle[idleCount++] = region;
    bytesStaged += length;
    if (!queue.stage(region.line(), length)) {
      publish();
    }
  }

  @Override
  public long sendAsync(RegisteredMemory memory, long offset, int length) {
    connection.life().checkOpen();
    if (!(memory instanceof SendRecvRegisteredMemory registered) || !registered.belongsTo(this)) {
      throw new IllegalArgumentException("the memory was registered with another connection");
    }
    registered.checkOpen();
    MemorySegment segment = registered.segment();
    Objects.checkFromIndexSize(offset, (long) length, segment.byteSize());
    checkLength(length);
    if (queue.reserve(length, false) == SendQueue.FULL) {
      awaitRoom(length, false, false, 0);
    }
    bytesStaged += length;
    queue.stage(segment.address() + offset, length, registered.localKey());
    publish();
    registered.used(queue.lastId());
    return queue.lastId();
  }

  @Override
  public long send(MemorySegment source, long offset, long length) {
    connection.life().checkOpen();
    Objects.checkFromIndexSize(offset, length, source.byteSize());
    checkLength(length);
    int size = (int) length;
    int line = queue.reserve(size, true);
    if (line == SendQueue.FULL) {
      line = awaitRoom(size, true, false, 0);
    }
    boolean copied = false;
    try {
      if (line >= 0) {
        MemorySegment.copy(
            source, offset, queue.memory().segment(), (long) line * SendQueue.LINE, size);
      }
      copied = true;
    } catch (IllegalStateException e) {
      throw connection.life().isReleased() ? connection.life().exception(e) : e;
    } finally {
      if (!copied) {
        queue.unreserve(line); // the source may be closed, or another thread's
      }
    }
    bytesStaged += size;
    queue.stage(line, size);
    publish();
    return queue.lastId();
  }

  /** Posts all that is staged. */
  void publish() {
    bytesPublished = bytesStaged;
    boolean taken = queue.publish();
    published = queue.lastId();
    if (!taken) {
      throw connection.life().exception(null);
    }
  }

  @Override
  public Batch batch() {
    return batch;
  }

  int staged() {
    return queue.staged();
  }

  void flush() {
    if (staged() > 0) {
      connection.life().checkOpen();
      publish();
    }
  }

  /** The id of the message staged last. */
  long lastId() {
    return queue.lastId();
  }

  @Override
  public boolean isComplete(long id) {
    checkId(id);
    return id <= published && queue.isComplete(id);
  }

  @Override
  public void await(long id) {
    await(id, false, 0);
  }

  @Override
  public void await(long id, Duration timeout) {
    if (!await(id, true, Deadlines.after(timeout))) {
      throw new OperationTimeoutException(
          connection.uri(), "message " + id + " was not acknowledged in time", null);
    }
  }

  private boolean await(long id, boolean bounded, long deadline) {
    checkId(id);
    if (id > published) {
      flush();
    }
    if (queue.isComplete(id)) {
      return true;
    }
    wantedId = id;
    return waiter.await(completionCondition, bounded, deadline);
  }

  private void checkId(long id) {
    if (id < 1 || id > queue.lastId()) {
      throw new IllegalArgumentException(
          "no message of this connection has the id "
              + id
              + "; the last one was "
              + queue.lastId());
    }
  }

  private void checkLength(long length) {
    if (length < 0) {
      throw new IllegalArgumentException("a message cannot have " + length + " bytes");
    }
    if (length > maxMessageSize) {
      throw new MessageTooLongException(connection.uri(), length, maxMessageSize);
    }
  }

  /**
   * Takes room for a message if there is some; what is wrong with a connection comes before what is
   * wrong with a length.
   */
  private int checkAndReserve(int length) {
    connection.life().checkOpen();
    checkLength(length);
    int line = queue.reserve(length, true);
    if (line == SendQueue.FULL && receives.poll()) {
      line = queue.reserve(length, true); // there may have been credits
    }
    return line;
  }

  private int awaitRoom(int length, boolean needsMemory, boolean bounded, long deadline) {
    stalls++;
    flush(); // what waits in a batch takes up room
    wantedLength = length;
    wantedMemory = needsMemory;
    wantedLine = SendQueue.FULL;
    return waiter.await(roomCondition, bounded, deadline) ? wantedLine : SendQueue.FULL;
  }

  /** Waits for room: for completions, and for credits, which come with what is received. */
  private final class RoomCondition implements Waiter.Condition {

    @Override
    public boolean isReady() {
      connection.life().checkOpen();
      receives.poll();
      wantedLine = queue.reserve(wantedLength, wantedMemory);
      if (wantedLine == SendQueue.FULL && !queue.isAnythingOut()) {
        // everything may have been given back between the two looks
        wantedLine = queue.reserve(wantedLength, wantedMemory);
        if (wantedLine == SendQueue.FULL) {
          connection.life().checkOpen();
          throw new IllegalStateException(
              "this program has claimed all the room that there is; send or abort some regions"
                  + " before claiming more");
        }
      }
      return wantedLine != SendQueue.FULL;
    }

    @Override
    public void arm() {
      queue.arm();
      receives.arm();
    }

    @Override
    public boolean isArmed() {
      return true; // an event may have come meanwhile, and then there is no sleep
    }

    @Override
    public void disarm() {
      // an event too many does no harm
    }

    @Override
    public RuntimeException interrupted() {
      return connection.interrupted("send");
    }
  }

  /** Waits for a message to be acknowledged. */
  private final class CompletionCondition implements Waiter.Condition {

    @Override
    public boolean isReady() {
      if (queue.isComplete(wantedId)) {
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
    public boolean isArmed() {
      return true;
    }

    @Override
    public void disarm() {
      // an event too many does no harm
    }

    @Override
    public RuntimeException interrupted() {
      return connection.interrupted("send");
    }
  }

  SendRecvRegisteredMemory register(ProtectionDomain domain, MemorySegment memory) {
    SendRecvRegisteredMemory registered = new SendRecvRegisteredMemory(this, domain, memory);
    registrations.add(registered);
    return registered;
  }

  /** Waits, before memory is no longer registered, until no device reads it. */
  void awaitUnused(long id) {
    if (id <= queue.lastId()) {
      while (!connection.life().hasEnded() && !queue.isComplete(id)) {
        Thread.onSpinWait();
      }
    }
  }

  void forget(SendRecvRegisteredMemory registered) {
    registrations.remove(registered);
  }

  void closeRegistrations() {
    registrations.forEach(SendRecvRegisteredMemory::deregister);
  }

  void wake() {
    waiter.wake();
  }

  void awaitNobodyWaiting(long nanos) {
    waiter.awaitNobody(nanos);
  }

  long messages() {
    return published;
  }

  long bytes() {
    return bytesPublished;
  }

  long stalls() {
    return stalls;
  }

  long sleeps() {
    return waiter.sleeps();
  }
}
