// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import dev.ferrule.magicring.wire.Acknowledgment;
import dev.ferrule.verbs.AccessFlags;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.ReceiveChain;
import dev.ferrule.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The receives of a connection. Each has a line of memory for a control message. A program's
 * message leaves the line unused, because its bytes are in the ring.
 *
 * <p>There is one receive for each message of the window; one for each acknowledgment of the other
 * direction that may be in flight, which are at most as many as the window (see {@link RingSpace});
 * one for a want; one for the end of the peer's messages; one for a goodbye; and one more batch,
 * because completed receives wait until a batch of them can be posted.
 *
 * <p><b>Threads:</b> {@link #postAll} is called before the connection is added to its receive
 * queue, {@link #done} under that queue's lock, and {@link #stop} by any thread. A connection is
 * removed from the queue, under the same lock, before its queue pair is destroyed, so nothing is
 * posted to a destroyed queue pair.
 */
public final class RingReceives implements AutoCloseable {

  private static final long LINE = 64;
  private static final int WANT_END_AND_GOODBYE = 3;

  /** The number of completed receives that are reposted together. */
  private static final int BATCH = 16;

  private final QueuePair queuePair;
  private final MemoryRegion region;
  private final MemorySegment memory;
  private final int count;
  private final ReceiveChain chain = new ReceiveChain(BATCH);
  private int waiting; // requests in the chain that wait to be posted
  private volatile boolean stopped;

  /**
   * Creates receives without posting them.
   *
   * @param domain the protection domain to register their memory with
   * @param arena allocates their memory
   * @param queuePair the queue pair to post them to
   * @param count the number of receives
   */
  public RingReceives(ProtectionDomain domain, Arena arena, QueuePair queuePair, int count) {
    this.queuePair = queuePair;
    this.count = count;
    this.memory = arena.allocate(count * LINE, LINE);
    this.region = domain.register(memory, AccessFlags.LOCAL_WRITE);
  }

  /**
   * Returns the number of receives that a connection needs.
   *
   * @param window the maximum number of unacknowledged messages in either direction
   * @param simplex whether messages flow in one direction only, and acknowledgments in the other
   * @return the number of receives
   */
  public static int countFor(int window, boolean simplex) {
    return (simplex ? window : 2 * window) + WANT_END_AND_GOODBYE + BATCH;
  }

  /**
   * Posts all receives for the first time.
   *
   * @throws VerbsException if the device rejects them
   */
  public void postAll() {
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
  }

  /**
   * Reposts a completed receive whose content has been read, in a batch with others.
   *
   * @param receive its number
   * @return 0, or -errno
   */
  int done(int receive) {
    return stopped ? 0 : add(receive);
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

  /** Returns the memory of all receives. */
  MemorySegment memory() {
    return memory;
  }

  /** Returns the offset of a receive's control message. */
  static long offset(int receive) {
    return receive * LINE;
  }

  /** Stops posting, as the connection has ended. */
  public void stop() {
    stopped = true;
  }

  /** Ends the registration; the arena releases the memory. */
  @Override
  public void close() {
    region.close();
  }
}
