// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.access;

import static dev.ferrule.verbs.access.AccessTableLayout.INT;
import static dev.ferrule.verbs.access.AccessTableLayout.LONG;

import dev.ferrule.FerruleException;
import dev.ferrule.RmaRight;
import dev.ferrule.spi.RmaKey;
import dev.ferrule.spi.Threads;
import dev.ferrule.verbs.Access;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.queue.AccessQueue;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * What this side exposes, and tells the peer by writing to its {@link AccessTable}: nothing of this
 * needs the peer's program.
 *
 * <p><b>Threads:</b> any thread may call; they wait for each other.
 */
public final class Exposures {

  private static final long PAUSE_NANOS = 20_000;
  private static final long LONGEST_PAUSE_NANOS = 1_000_000;

  /** How long after the deadline the peer's device may take to answer the last question. */
  private static final long LAST_ANSWER_NANOS = 1_000_000_000;

  private final ProtectionDomain domain;
  private final AccessTable own;
  private final int peerTable;
  private final AccessQueue queue;
  private final Life life;
  private final @Nullable Exposure[] exposures =
      new @Nullable Exposure[AccessTableLayout.MAX_EXPOSURES];
  private int next;

  /** The connection, as far as it matters here. */
  public interface Life {

    /** Throws a {@link FerruleException} if the connection has ended. */
    void checkOpen();

    /**
     * Returns how long to wait for a peer that is accessing memory that is taken back.
     *
     * @return the time in nanoseconds
     */
    long patienceNanos();

    /**
     * Ends the connection because of what the peer does or does not do.
     *
     * @param reason what
     */
    void lost(String reason);
  }

  /**
   * Begins with nothing exposed.
   *
   * @param domain where to register memory
   * @param own this side's table, which has the memory to write from
   * @param peerTable the key of the peer's table
   * @param queue by which to write to it
   * @param life the connection
   */
  public Exposures(
      ProtectionDomain domain, AccessTable own, int peerTable, AccessQueue queue, Life life) {
    this.domain = domain;
    this.own = own;
    this.peerTable = peerTable;
    this.queue = queue;
    this.life = life;
  }

  /**
   * Returns how many pieces of memory can be exposed at a time.
   *
   * @return the limit
   */
  public static int limit() {
    return AccessTableLayout.MAX_EXPOSURES;
  }

  /**
   * Exposes memory, and waits until the peer's table says so: about as long as a message goes there
   * and back.
   *
   * @param memory native memory
   * @param rights what the peer may do
   * @return the exposure; null if there is no room for another one
   * @throws dev.ferrule.verbs.VerbsException if too little memory may be locked
   * @throws FerruleException if the connection ends meanwhile
   */
  public synchronized @Nullable Exposure add(MemorySegment memory, Set<RmaRight> rights) {
    life.checkOpen(); // what is exposed from now on is taken back with the connection
    int id = freeId();
    if (id < 0) {
      return null;
    }
    MemoryRegion region = memory.byteSize() == 0 ? null : register(memory, rights);
    boolean told = false;
    try {
      int remoteKey = region == null ? 0 : region.remoteKey();
      RmaKey key = new RmaKey(id, generation(), memory.byteSize(), rights, remoteKey);
      announce(key, ProtectionDomain.firstByte(memory));
      Exposure exposure = new Exposure(key, memory, region);
      exposures[id] = exposure;
      told = true;
      return exposure;
    } finally {
      if (!told && region != null) {
        region.close();
      }
    }
  }

  private MemoryRegion register(MemorySegment memory, Set<RmaRight> rights) {
    boolean writable = rights.contains(RmaRight.WRITE);
    return domain.registerRelocated(
        memory,
        (writable ? Access.LOCAL_WRITE | Access.REMOTE_WRITE : 0)
            | (rights.contains(RmaRight.READ) ? Access.REMOTE_READ : 0));
  }

  /** Numbers take turns, so that one that was given back is not soon another's. */
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

  /** Nobody need guess it in vain: what is not exposed is kept by the device. */
  private static long generation() {
    long generation = ThreadLocalRandom.current().nextLong();
    return generation == 0 ? 1 : generation;
  }

  /** The generation goes last, as it is what makes an entry one. */
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
    // which the peer's device does not answer before what was written is there
    long number = askInUse(key.id());
    while (!isAnswered(number)) {
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

  /** Asks how many requests the peer has under way for a number; returns the request's number. */
  private long askInUse(int id) {
    return queue.postForTable(
        false,
        AccessTableLayout.SCRATCH_READ,
        own.localKey(),
        AccessTableLayout.inUse(id),
        peerTable,
        Integer.BYTES);
  }

  /** Whether a request is done; one that could not be posted never is. */
  private boolean isAnswered(long number) {
    return number != 0 && queue.isRetired(number);
  }

  /**
   * Ends an exposure, and waits until the peer is not at it any more. Does nothing if it has ended.
   *
   * @param exposure the exposure
   */
  public void takeBack(Exposure exposure) {
    if (!exposure.end()) {
      awaitForgotten(exposure); // by another thread
      return;
    }
    boolean ended = retract(exposure);
    forget(exposure);
    if (!ended) {
      // not under the monitor, and last, for the program is told, and may do anything
      life.lost(
          "the peer has been accessing exposed memory for longer than closeTimeout after it was"
              + " taken back (stopped, held up by messages before it, or hostile)");
    }
  }

  /**
   * Tells the peer. What has failed or closed the queue has ended the peer's access as well; but a
   * connection that is being closed goes on until all that was sent is there.
   *
   * @return false if the peer has not ended its access for too long
   */
  private synchronized boolean retract(Exposure exposure) {
    int id = exposure.key().id();
    writeGeneration(id, 0);
    long number = askInUse(id);
    long deadline = System.nanoTime() + life.patienceNanos();
    long pause = PAUSE_NANOS;
    boolean last = false; // it was asked after the deadline, so the answer counts for all before
    while (queue.isUsable()) {
      boolean late = deadline - System.nanoTime() < 0; // before the look
      if (isAnswered(number)) {
        if ((int) INT.getVolatile(own.memory(), AccessTableLayout.SCRATCH_READ) == 0) {
          return true;
        }
        if (last) {
          return false;
        }
        last = late;
        number = askInUse(id);
        pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS); // the peer notices its end when it looks
      } else if (late && deadline + LAST_ANSWER_NANOS - System.nanoTime() < 0) {
        return false; // what was sent before is not taken by the peer either
      }
      Threads.pause(pause);
    }
    return true;
  }

  private void awaitForgotten(Exposure exposure) {
    while (isKnown(exposure)) {
      Threads.pause(PAUSE_NANOS);
    }
  }

  private synchronized boolean isKnown(Exposure exposure) {
    return exposures[exposure.key().id()] == exposure;
  }

  private synchronized void forget(Exposure exposure) {
    exposure.deregister();
    if (exposures[exposure.key().id()] == exposure) {
      exposures[exposure.key().id()] = null;
    }
  }

  /**
   * Takes everything back, also what somebody is just taking back. The queue pair is destroyed, so
   * nobody is at it any more.
   */
  public synchronized void close() {
    for (Exposure exposure : exposures) {
      if (exposure != null) {
        exposure.end();
        forget(exposure);
      }
    }
  }
}
