// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import dev.ferrule.magicring.wire.Acknowledgment;
import dev.ferrule.verbs.Access;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.ReceiveChain;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.queue.SpinLock;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The receives of a connection. Each has a line of memory for a control message; one that a message
 * takes up leaves it as it is, for the message's bytes are in the ring.
 *
 * <p>There is one for each message of the window; one for each acknowledgment that may be under way
 * for messages of the other direction, of which there are no more than that window (see {@link
 * RingSpace}); one for a want, one for a goodbye; and as many again as are posted together, so that
 * those that wait for this are not missed.
 *
 * <p><b>Threads:</b> any thread may call.
 */
public final class RingReceives implements AutoCloseable {

  private static final long LINE = 64;
  private static final int WANT_AND_GOODBYE = 2;

  /** So many receives that are done are posted again together. */
  private static final int BATCH = 16;

  private final QueuePair queuePair;
  private final MemoryRegion region;
  private final MemorySegment memory;
  private final int count;
  private final ReceiveChain chain = new ReceiveChain(BATCH);
  private final SpinLock lock = new SpinLock();
  private int waiting; // requests of the chain that are to be posted; under the lock
  private boolean stopped; // under the lock

  /**
   * Makes receives, and posts none.
   *
   * @param domain where to register their memory
   * @param arena what to allocate it by
   * @param queuePair where to post them
   * @param count how many
   */
  public RingReceives(ProtectionDomain domain, Arena arena, QueuePair queuePair, int count) {
    this.queuePair = queuePair;
    this.count = count;
    this.memory = arena.allocate(count * LINE, LINE);
    this.region = domain.register(arena, memory, Access.LOCAL_WRITE);
  }

  /**
   * Returns how many receives a connection needs.
   *
   * @param window how many messages may be unacknowledged in either direction
   * @param simplex whether messages go in one direction only, and acknowledgments in the other
   * @return the number
   */
  public static int countFor(int window, boolean simplex) {
    return (simplex ? window : 2 * window) + WANT_AND_GOODBYE + BATCH;
  }

  /**
   * Posts all receives, for the first time.
   *
   * @throws VerbsException if the device does not take them
   */
  public void postAll() {
    lock.lock();
    try {
      int result = 0;
      for (int i = 0; i < count && result >= 0; i++) {
        result = add(i);
      }
      if (result >= 0 && waiting > 0) {
        result = postWaiting();
      }
      if (result < 0) {
        throw new VerbsException("ibv_post_recv", count + " receives", -result);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * A receive is done, and what it brought was read; it is posted again, with others.
   *
   * @param receive its number
   * @return 0, or -errno
   */
  int done(int receive) {
    lock.lock();
    try {
      return stopped ? 0 : add(receive);
    } finally {
      lock.unlock();
    }
  }

  private int add(int receive) {
    chain.set(
        waiting,
        receive,
        memory.address() + receive * LINE,
        Acknowledgment.SIZE,
        region.localKey());
    waiting++;
    return waiting == BATCH ? postWaiting() : 0;
  }

  private int postWaiting() {
    int posted = waiting;
    waiting = 0;
    return queuePair.post(chain, 0, posted);
  }

  /** The memory of all receives. */
  MemorySegment memory() {
    return memory;
  }

  /** Where the control message of a receive is. */
  static long offset(int receive) {
    return receive * LINE;
  }

  /** Posts no more, so that the queue pair can be destroyed. */
  public void stop() {
    lock.lock();
    try {
      stopped = true;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the registration; the memory is the arena's. */
  @Override
  public void close() {
    region.close();
  }
}
