// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.OperationTimeoutException;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.support.AbstractSender;
import dev.ferrule.support.Deadlines;
import dev.ferrule.support.SingleThreadedUse;
import dev.ferrule.support.Threads;
import dev.ferrule.support.Waiter;
import dev.ferrule.verbs.ProtectionDomain;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The sender of a connection: claims, sends and batches over a {@link SendQueue}. */
final class RdmaSender extends AbstractSender {

  private static final int REGIONS_AT_ONCE = 64;
  private static final long UNUSED_PAUSE_NANOS = 20_000;

  private final RdmaConnection connection;
  private final SendQueue queue;
  private final ReceiveQueue receives; // polled for credits
  private final Waiter waiter;
  private final int maxRegions;
  private final RoomCondition roomCondition = new RoomCondition();
  private final CompletionCondition completionCondition = new CompletionCondition();
  private final Set<RdmaRegisteredMemory> registrations = ConcurrentHashMap.newKeySet();
  private final Object registering = new Object();
  private final SingleThreadedUse use;
  private final Sender checked;

  private RdmaSendRegion[] idle = {}; // a stack: the last used region is the warmest in the cache
  private int idleCount;
  private int regions;
  private int requestedLength; // what a waiting thread has requested
  private boolean requestedMemory;
  private int reservedLine; // the result
  private long awaitedId;
  private boolean requestsRoom; // for a program that uses readiness

  private long bytesStaged;
  private long bytesPublished;
  private long published;

  RdmaSender(
      RdmaConnection connection,
      SendQueue queue,
      ReceiveQueue receives,
      int maxMessageSize,
      int unacked,
      Waiter waiter) {
    super(maxMessageSize);
    this.use = new SingleThreadedUse(() -> "the sender of " + connection.uri());
    this.checked = use.check(this);
    this.connection = connection;
    this.queue = queue;
    this.receives = receives;
    this.maxRegions = unacked;
    this.waiter = waiter;
  }

  @Override
  protected URI uri() {
    return connection.uri();
  }

  @Override
  protected void checkOpen() {
    connection.life().checkOpen();
  }

  @Override
  protected SendRegion lend(int line, int length) {
    if (idleCount == 0) {
      addRegions();
    }
    RdmaSendRegion region = idle[--idleCount];
    region.lend(line, length, queue.memory());
    return region;
  }

  void checkNotReleased() {
    connection.life().checkNotReleased();
  }

  /** Adds regions. Their number is bounded by the messages that may be unacknowledged. */
  private void addRegions() {
    int count = Math.min(REGIONS_AT_ONCE, maxRegions - regions);
    regions += count;
    idle = new RdmaSendRegion[regions];
    for (int i = 0; i < count; i++) {
      idle[idleCount++] = new RdmaSendRegion(this);
    }
  }

  /** Returns this sender with the check for use by one thread. */
  Sender checked() {
    return checked;
  }

  void abort(RdmaSendRegion region) {
    use.begin();
    try {
      region.takeBack();
      idle[idleCount++] = region;
      queue.unreserve(region.line(), region.length());
    } finally {
      use.end();
    }
  }

  /** Stages the message of a region. {@link #publish} posts it. */
  @Override
  public long stage(SendRegion candidate, int length) {
    connection.life().checkOpen();
    if (!(candidate instanceof RdmaSendRegion region) || !region.belongsTo(this)) {
      throw new IllegalArgumentException("the region was claimed from another connection");
    }
    region.checkSendable(length);
    region.takeBack();
    idle[idleCount++] = region;
    return stage(region.line(), region.length(), length);
  }

  @Override
  public long sendAsync(RegisteredMemory memory, long offset, int length) {
    connection.life().checkOpen();
    RdmaRegisteredMemory registered = own(memory);
    MemorySegment segment = registered.segment();
    if (length <= queue.inlineMax()) {
      return send(segment, offset, length); // the device copies inline messages too, but unchecked
    }
    Objects.checkFromIndexSize(offset, (long) length, segment.byteSize());
    checkLength(length);
    if (queue.reserve(length, false) == FULL) {
      stalled();
      awaitRoom(length, false, false, 0);
      checkStillOpen(registered, length);
    }
    foundRoom(length);
    bytesStaged += length;
    queue.stageRegistered(segment.address() + offset, length, registered.localKey());
    publish();
    registered.used(queue.lastId());
    return queue.lastId();
  }

  /** Checks that memory is registered with this connection. */
  RdmaRegisteredMemory own(RegisteredMemory memory) {
    if (!(memory instanceof RdmaRegisteredMemory registered) || !registered.belongsTo(this)) {
      throw new IllegalArgumentException("the memory was registered with another connection");
    }
    registered.checkOpen();
    return registered;
  }

  @Override
  public long send(MemorySegment source, long offset, long length) {
    long id = stage(source, offset, length);
    publish();
    return id;
  }

  /** Copies a message to the send memory. {@link #publish} posts it. */
  @Override
  public long stage(MemorySegment source, long offset, long length) {
    connection.life().checkOpen();
    Objects.checkFromIndexSize(offset, length, source.byteSize());
    checkLength(length);
    int size = (int) length;
    int line = reserveOrWait(size);
    boolean copied = false;
    try {
      if (line >= 0) {
        MemorySegment.copy(source, offset, queue.memory(), (long) line * SendQueue.LINE, size);
      }
      copied = true;
    } catch (IllegalStateException e) {
      throw connection.life().isReleased() ? connection.life().exception(e) : e;
    } finally {
      if (!copied) {
        queue.unreserve(line, size); // the source may be closed, or confined to another thread
      }
    }
    return stage(line, size, size);
  }

  /** Stages a message, and posts the batch if it has the maximum length of one call. */
  private long stage(int line, int reservedLength, int length) {
    bytesStaged += length;
    if (!queue.stage(line, reservedLength, length)) {
      publish();
    }
    return queue.lastId();
  }

  /**
   * Checks the registration again, as another thread may have closed it during the wait for space.
   */
  private void checkStillOpen(RdmaRegisteredMemory registered, int length) {
    try {
      registered.checkOpen();
    } catch (IllegalStateException e) {
      queue.unreserve(SendQueue.NO_LINES, length);
      throw e;
    }
  }

  /** Posts all staged messages. */
  @Override
  protected void publish() {
    bytesPublished = bytesStaged;
    boolean taken = queue.publish();
    published = queue.lastId();
    if (!taken) {
      throw connection.life().exception(null);
    }
  }

  @Override
  public int staged() {
    return queue.staged();
  }

  @Override
  protected long lastId() {
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
          connection.uri(), "timed out waiting for the acknowledgement of message " + id, null);
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
    awaitedId = id;
    return waiter.await(completionCondition, bounded, deadline);
  }

  @Override
  protected int reserve(int length) {
    int line = queue.reserve(length, true);
    if (line == FULL && receives.poll()) {
      line = queue.reserve(length, true); // credits may have arrived
    }
    return line;
  }

  @Override
  protected int awaitRoom(int length, boolean bounded, long deadline) {
    return awaitRoom(length, true, bounded, deadline);
  }

  private int awaitRoom(int length, boolean needsMemory, boolean bounded, long deadline) {
    requestedLength = length;
    requestedMemory = needsMemory;
    reservedLine = FULL;
    return waiter.await(roomCondition, bounded, deadline) ? reservedLine : FULL;
  }

  /**
   * Waits for buffer space: for completions, and for credits, which arrive with received messages.
   */
  private final class RoomCondition implements EventCondition {

    @Override
    public boolean isReady() {
      connection.life().checkOpen();
      receives.poll();
      reservedLine = queue.reserve(requestedLength, requestedMemory);
      if (reservedLine == FULL && !queue.isAnythingOut()) {
        // everything may have been returned between the two checks
        reservedLine = queue.reserve(requestedLength, requestedMemory);
        if (reservedLine == FULL) {
          connection.life().checkOpen();
          throw new IllegalStateException(
              "all buffers are claimed by this program: send or abort some regions before claiming"
                  + " more");
        }
      }
      return reservedLine != FULL;
    }

    @Override
    public void arm() {
      receives.arm();
      queue.arm();
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

  /** Waits for the acknowledgement of a message. */
  private final class CompletionCondition implements EventCondition {

    @Override
    public boolean isReady() {
      if (queue.isComplete(awaitedId)) {
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

  RdmaRegisteredMemory register(ProtectionDomain domain, MemorySegment memory) {
    synchronized (registering) {
      connection.life().checkOpen(); // later registrations are closed with the connection
      RdmaRegisteredMemory registered = new RdmaRegisteredMemory(this, domain, memory);
      registrations.add(registered);
      return registered;
    }
  }

  /**
   * Waits, before memory is deregistered, until no outstanding work request uses it. A peer that
   * receives nothing must not block this without limit: after a timeout the connection ends.
   */
  void awaitUnused(long id, boolean accessed) {
    long deadline = System.nanoTime() + connection.patienceNanos();
    long lastAccess = accessed ? queue.accesses().lastRequest() : 0;
    // also while another thread closes the connection, which waits for the same condition
    while (queue.accesses().isUsable() && isUsed(id, lastAccess)) {
      if (deadline - System.nanoTime() < 0) {
        connection
            .life()
            .lost(
                "timed out closing registered memory: the peer has not acknowledged the last"
                    + " message from it, or the last access to it, within closeTimeout");
        return;
      }
      Threads.pause(UNUSED_PAUSE_NANOS);
    }
  }

  private boolean isUsed(long id, long lastAccess) {
    return (id <= queue.lastId() && !queue.isComplete(id))
        || !queue.accesses().isRetired(lastAccess);
  }

  void forget(RdmaRegisteredMemory registered) {
    registrations.remove(registered);
  }

  void closeRegistrations() {
    synchronized (registering) {
      registrations.forEach(RdmaRegisteredMemory::deregister);
    }
  }

  /** Requests completions and credits to be shown by the readiness. */
  @Override
  protected void requestRoom() {
    if (requestsRoom) {
      receives.disarm(); // the request before this one
    }
    requestsRoom = true;
    receives.arm();
    queue.arm();
  }

  void wake() {
    waiter.wake();
    onRoom();
  }

  void awaitNoWaiters(long nanos) {
    waiter.awaitNoWaiters(nanos);
  }

  long messages() {
    return published;
  }

  long bytes() {
    return bytesPublished;
  }

  long sleeps() {
    return waiter.sleeps();
  }
}
