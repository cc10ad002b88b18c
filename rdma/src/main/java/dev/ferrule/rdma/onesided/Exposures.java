// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.onesided;

import static dev.ferrule.rdma.onesided.AccessTableLayout.INT;
import static dev.ferrule.rdma.onesided.AccessTableLayout.LONG;

import dev.ferrule.FerruleException;
import dev.ferrule.RmaRight;
import dev.ferrule.rdma.queue.OneSidedOperations;
import dev.ferrule.support.RmaKey;
import dev.ferrule.support.Threads;
import dev.ferrule.verbs.AccessFlags;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The memory that this side exposes to the peer. RDMA WRITEs to the peer's {@link AccessTable}
 * announce it, without involving the peer's program.
 *
 * <p><b>Threads:</b> safe for use by several threads; calls are serialized.
 */
public final class Exposures {

  private static final long PAUSE_NANOS = 20_000;
  private static final long LONGEST_PAUSE_NANOS = 1_000_000;

  /** The time that the peer's device has after the deadline to answer the last READ. */
  private static final long LAST_ANSWER_NANOS = 1_000_000_000;

  private final ProtectionDomain domain;
  private final AccessTable own;
  private final int peerTable;
  private final OneSidedOperations queue;
  private final Life life;
  private final @Nullable Exposure[] exposures =
      new @Nullable Exposure[AccessTableLayout.MAX_EXPOSURES];
  private int next;

  /** The connection's lifecycle, as used by this class. */
  public interface Life {

    /** Throws a {@link FerruleException} if the connection has ended. */
    void checkOpen();

    /**
     * {@return the time to wait for the peer's outstanding accesses when an exposure ends, in
     * nanoseconds}
     */
    long releaseTimeoutNanos();

    /**
     * Ends the connection with a failure.
     *
     * @param reason the reason
     */
    void lost(String reason);
  }

  /**
   * Creates an instance without exposures.
   *
   * @param domain registers the memory
   * @param own this side's table, which has the scratch area
   * @param peerTable the remote key of the peer's table
   * @param queue posts the requests to it
   * @param life the connection's lifecycle
   */
  public Exposures(
      ProtectionDomain domain,
      AccessTable own,
      int peerTable,
      OneSidedOperations queue,
      Life life) {
    this.domain = domain;
    this.own = own;
    this.peerTable = peerTable;
    this.queue = queue;
    this.life = life;
  }

  /** {@return the maximum number of exposures at a time} */
  public static int limit() {
    return AccessTableLayout.MAX_EXPOSURES;
  }

  /**
   * Exposes memory, and waits until the peer's table has the entry: about the round-trip time of a
   * message.
   *
   * @param memory native memory
   * @param rights the access rights of the peer
   * @return the exposure; null if the maximum number is reached
   * @throws dev.ferrule.verbs.VerbsException if the registration fails, for example because of the
   *     limit of locked memory
   * @throws FerruleException if the connection ends before that
   */
  public synchronized @Nullable Exposure add(MemorySegment memory, Set<RmaRight> rights) {
    life.checkOpen(); // later exposures end with the connection
    int id = freeId();
    if (id < 0) {
      return null;
    }
    MemoryRegion region = memory.byteSize() == 0 ? null : register(memory, rights);
    try {
      int remoteKey = region == null ? 0 : region.remoteKey();
      RmaKey key = new RmaKey(id, generation(), memory.byteSize(), rights, remoteKey);
      announce(key, ProtectionDomain.firstByte(memory));
      Exposure exposure = new Exposure(this, key, memory, region);
      exposures[id] = exposure;
      return exposure;
    } catch (Throwable e) {
      if (region != null) {
        region.close();
      }
      throw e;
    }
  }

  private MemoryRegion register(MemorySegment memory, Set<RmaRight> rights) {
    int access = rights.contains(RmaRight.READ) ? AccessFlags.REMOTE_READ : 0;
    if (rights.contains(RmaRight.WRITE)) {
      access |= AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;
    }
    if (rights.contains(RmaRight.ATOMIC)) {
      access |= AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_ATOMIC;
    }
    return domain.registerRelocated(memory, access);
  }

  /** Returns a free number. Numbers rotate, so that none is reused soon. */
  private int freeId() {
    for (int i = 0; i < exposures.length; i++) {
      int id = (next + i) % exposures.length;
      if (exposures[id] == null) {
        next = (id + 1) % exposures.length;
        return id;
      }
    }
    return -1;
  }

  /**
   * Returns a random generation, which distinguishes exposures with the same number. It need not be
   * secret: the device protects memory that is not exposed.
   */
  private static long generation() {
    long generation = ThreadLocalRandom.current().nextLong();
    return generation == 0 ? 1 : generation;
  }

  /**
   * Writes an entry to the peer's table. The generation is written last, as it makes the entry
   * valid.
   */
  private void announce(RmaKey key, int first) {
    MemorySegment memory = own.memory();
    long scratch = AccessTableLayout.SCRATCH;
    LONG.set(memory, scratch + AccessTableLayout.ENTRY_LENGTH, key.length());
    INT.set(memory, scratch + AccessTableLayout.ENTRY_KEY, key.key());
    INT.set(memory, scratch + AccessTableLayout.ENTRY_RIGHTS, RmaKey.bits(key.rights()));
    INT.set(memory, scratch + AccessTableLayout.ENTRY_FIRST, first);
    writeEntry(
        key.id(),
        AccessTableLayout.ENTRY_LENGTH,
        AccessTableLayout.ENTRY_SIZE - AccessTableLayout.ENTRY_LENGTH);
    writeGeneration(key.id(), key.generation());
    // a READ completes only after the WRITEs before it have been placed
    long number = readInUse(key.id());
    while (!isRead(number)) {
      life.checkOpen();
      Threads.pause(PAUSE_NANOS);
    }
  }

  private void writeGeneration(int id, long generation) {
    LONG.setVolatile(
        own.memory(), AccessTableLayout.SCRATCH + AccessTableLayout.ENTRY_GENERATION, generation);
    writeEntry(id, AccessTableLayout.ENTRY_GENERATION, Long.BYTES);
  }

  private void writeEntry(int id, int offset, int length) {
    queue.postForTable(
        true,
        AccessTableLayout.SCRATCH + offset,
        own.localKey(),
        AccessTableLayout.entry(id) + offset,
        peerTable,
        length);
  }

  /**
   * Reads the peer's number of outstanding requests for an entry; returns the number of the work
   * request.
   */
  private long readInUse(int id) {
    return queue.postForTable(
        false,
        AccessTableLayout.SCRATCH_READ,
        own.localKey(),
        AccessTableLayout.inUse(id),
        peerTable,
        Integer.BYTES);
  }

  /** Returns whether a READ has completed; always false if it could not be posted. */
  private boolean isRead(long number) {
    return number != 0 && queue.isRetired(number);
  }

  /**
   * Ends an exposure, and waits until the peer no longer accesses the memory. If another thread is
   * ending it, only waits.
   */
  void takeBack(Exposure exposure) {
    if (!exposure.end()) {
      awaitRemoved(exposure); // ended by another thread
      return;
    }
    boolean ended = retract(exposure);
    remove(exposure);
    if (!ended) {
      // last, and not under the monitor, because it runs the program's callbacks
      life.lost(
          "timed out ending an exposure: the peer has accessed the memory for longer than"
              + " closeTimeout (it is stopped, delayed by earlier messages, or hostile)");
    }
  }

  /**
   * Clears the entry in the peer's table, and waits for the peer's outstanding requests. If the
   * queue has failed or is closed, the peer's access has ended already. If the connection is being
   * closed, the queue works until all messages are acknowledged.
   *
   * @return false if the wait for the peer timed out
   */
  private synchronized boolean retract(Exposure exposure) {
    int id = exposure.key().id();
    writeGeneration(id, 0);
    long number = readInUse(id);
    long deadline = System.nanoTime() + life.releaseTimeoutNanos();
    long pause = PAUSE_NANOS;
    boolean last = false; // the last READ was posted after the deadline, so its result is final
    while (queue.isUsable()) {
      boolean late = deadline - System.nanoTime() < 0; // read before polling
      if (isRead(number)) {
        if ((int) INT.getVolatile(own.memory(), AccessTableLayout.SCRATCH_READ) == 0) {
          return true;
        }
        if (last) {
          return false;
        }
        last = late;
        number = readInUse(id);
        pause =
            Math.min(2 * pause, LONGEST_PAUSE_NANOS); // the peer decrements the count when it polls
      } else if (late && deadline + LAST_ANSWER_NANOS - System.nanoTime() < 0) {
        return false; // the peer does not even receive earlier messages
      }
      Threads.pause(pause);
    }
    return true;
  }

  private void awaitRemoved(Exposure exposure) {
    while (isListed(exposure)) {
      Threads.pause(PAUSE_NANOS);
    }
  }

  private synchronized boolean isListed(Exposure exposure) {
    return exposures[exposure.key().id()] == exposure;
  }

  private synchronized void remove(Exposure exposure) {
    exposure.deregister();
    if (exposures[exposure.key().id()] == exposure) {
      exposures[exposure.key().id()] = null;
    }
  }

  /**
   * Ends all exposures, including those that another thread is ending. The queue pair has been
   * destroyed, so the peer no longer accesses any memory.
   */
  public synchronized void close() {
    for (Exposure exposure : exposures) {
      if (exposure != null) {
        exposure.end();
        remove(exposure);
      }
    }
  }
}
