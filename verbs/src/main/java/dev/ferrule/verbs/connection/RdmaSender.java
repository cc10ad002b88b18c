// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.OperationTimeoutException;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.spi.AbstractSender;
import dev.ferrule.spi.Deadlines;
import dev.ferrule.spi.SingleThreadedUse;
import dev.ferrule.spi.Threads;
import dev.ferrule.spi.Waiter;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.queue.ReceiveQueue;
import dev.ferrule.verbs.queue.SendQueue;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The sending half: claims, sends and batches, over a {@link SendQueue}. */
final class RdmaSender extends AbstractSender {

  private static final int REGIONS_AT_ONCE = 64;
  private static final long UNUSED_PAUSE_NANOS = 20_000;

  private final RdmaConnection connection;
  private final SendQueue queue;
  private final ReceiveQueue receives; // from where credits come
  private final Waiter waiter;
  private final int maxRegions;
  private final RoomCondition roomCondition = new RoomCondition();
  private final CompletionCondition completionCondition = new CompletionCondition();
  private final Set<RdmaRegisteredMemory> registrations = ConcurrentHashMap.newKeySet();
  private final Object registering = new Object();
  private final SingleThreadedUse use;
  private final Sender checked;

  private RdmaSendRegion[] idle = {}; // a stack: the one used last is the warmest
  private int idleCount;
  private int regions;
  private int wantedLength; // what a waiting thread waits for
  private boolean wantedMemory;
  private int wantedLine; // what it got
  private long wantedId;

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

  /** There are never more regions than messages that may be unacknowledged. */
  private void addRegions() {
    int count = Math.min(REGIONS_AT_ONCE, maxRegions - regions);
    regions += count;
    idle = new RdmaSendRegion[regions];
    for (int i = 0; i < count; i++) {
      idle[idleCount++] = new RdmaSendRegion(this);
    }
  }

  /** Returns this, as the program gets it. */
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

  /** Stages a region's message, which is not posted before {@link #publish}. */
  @Override
  protected long stage(SendRegion candidate, int length) {
    connection.life().checkOpen();
    if (!(candidate instanceof RdmaSendRegion region) || !region.belongsTo(this)) {
      throw new IllegalArgumentException("the region was claimed from another connection");
    }
    region.checkSendable(length);
    region.takeBack();
    idle[idleCount++] = region;
    bytesStaged += length;
    if (!queue.stage(region.line(), region.length(), length)) {
      publish();
    }
    return queue.lastId();
  }

  @Override
  public long sendAsync(RegisteredMemory memory, long offset, int length) {
    connection.life().checkOpen();
    RdmaRegisteredMemory registered = own(memory);
    MemorySegment segment = registered.segment();
    if (length <= queue.inlineMax()) {
      return send(segment, offset, length); // the device would copy it as well, and unchecked
    }
    Objects.checkFromIndexSize(offset, (long) length, segment.byteSize());
    checkLength(length);
    if (queue.reserve(length, false) == FULL) {
      stalled();
      awaitRoom(length, false, false, 0);
      checkStillOpen(registered, length);
    }
    bytesStaged += length;
    queue.stageRegistered(segment.address() + offset, length, registered.localKey());
    publish();
    registered.used(queue.lastId());
    return queue.lastId();
  }

  /** Memory that is registered with this connection. */
  RdmaRegisteredMemory own(RegisteredMemory memory) {
    if (!(memory instanceof RdmaRegisteredMemory registered) || !registered.belongsTo(this)) {
      throw new IllegalArgumentException("the memory was registered with another connection");
    }
    registered.checkOpen();
    return registered;
  }

  @Override
  public long send(MemorySegment source, long offset, long length) {
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
        queue.unreserve(line, size); // the source may be closed, or another thread's
      }
    }
    bytesStaged += size;
    queue.stage(line, size, size);
    publish();
    return queue.lastId();
  }

  /** Another thread may have closed it while there was no room. */
  private void checkStillOpen(RdmaRegisteredMemory registered, int length) {
    try {
      registered.checkOpen();
    } catch (IllegalStateException e) {
      queue.unreserve(SendQueue.NO_LINES, length);
      throw e;
    }
  }

  /** Posts all that is staged. */
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
  protected int staged() {
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

  @Override
  protected int reserve(int length) {
    int line = queue.reserve(length, true);
    if (line == FULL && receives.poll()) {
      line = queue.reserve(length, true); // there may have been credits
    }
    return line;
  }

  @Override
  protected int awaitRoom(int length, boolean bounded, long deadline) {
    return awaitRoom(length, true, bounded, deadline);
  }

  private int awaitRoom(int length, boolean needsMemory, boolean bounded, long deadline) {
    wantedLength = length;
    wantedMemory = needsMemory;
    wantedLine = FULL;
    return waiter.await(roomCondition, bounded, deadline) ? wantedLine : FULL;
  }

  /** Waits for room: for completions, and for credits, which come with what is received. */
  private final class RoomCondition implements EventCondition {

    @Override
    public boolean isReady() {
      connection.life().checkOpen();
      receives.poll();
      wantedLine = queue.reserve(wantedLength, wantedMemory);
      if (wantedLine == FULL && !queue.isAnythingOut()) {
        // everything may have been given back between the two looks
        wantedLine = queue.reserve(wantedLength, wantedMemory);
        if (wantedLine == FULL) {
          connection.life().checkOpen();
          throw new IllegalStateException(
              "this program has claimed all the room that there is; send or abort some regions"
                  + " before claiming more");
        }
      }
      return wantedLine != FULL;
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

  /** Waits for a message to be acknowledged. */
  private final class CompletionCondition implements EventCondition {

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
    public RuntimeException interrupted() {
      return connection.interrupted("send");
    }
  }

  RdmaRegisteredMemory register(ProtectionDomain domain, MemorySegment memory) {
    synchronized (registering) {
      connection.life().checkOpen(); // what is registered from now on is closed with the connection
      RdmaRegisteredMemory registered = new RdmaRegisteredMemory(this, domain, memory);
      registrations.add(registered);
      return registered;
    }
  }

  /**
   * Waits, before memory is no longer registered, until no device reads it. A peer that takes no
   * messages at all must not hold it for ever: the connection ends before.
   */
  void awaitUnused(long id, boolean accessed) {
    long deadline = System.nanoTime() + connection.patienceNanos();
    long lastAccess = accessed ? queue.accesses().lastRequest() : 0;
    // also while another thread closes the connection, which waits for the same
    while (queue.accesses().isUsable() && isUsed(id, lastAccess)) {
      if (deadline - System.nanoTime() < 0) {
        connection
            .life()
            .lost(
                "registered memory was closed, and the peer had not taken the last message from it,"
                    + " or the last access, within closeTimeout");
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

  long sleeps() {
    return waiter.sleeps();
  }
}
