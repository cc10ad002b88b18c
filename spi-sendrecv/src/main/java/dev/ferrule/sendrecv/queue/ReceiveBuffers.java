// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.rdma.memory.NativeMemory;
import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.rdma.queue.SpinLock;
import dev.ferrule.verbs.AccessFlags;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.ReceiveChain;
import dev.ferrule.verbs.ReceiveWorkQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The receive buffers: registered memory, divided into buffers of equal size. Each buffer is
 * posted, contains a message that the program has not freed, or waits to be reposted.
 *
 * <p><b>Threads:</b> any thread may post.
 */
public final class ReceiveBuffers implements AutoCloseable {

  private static final long LINE = 64;

  private final MemoryRegion region;
  private final MemorySegment view;
  private final long address;
  private final int count;
  private final int size;
  private final int postedTogether;
  private final long stride;
  private final ReceiveChain chain;
  private final SpinLock lock = new SpinLock();
  private boolean stopped; // under the lock

  /**
   * Creates the buffers.
   *
   * @param domain the protection domain to register them with
   * @param arena allocates them
   * @param count the number of buffers
   * @param size the size of each buffer, in bytes
   * @param postedTogether the maximum number of freed buffers that are posted together
   * @throws dev.ferrule.verbs.VerbsException if the system lacks memory, or the limit of locked
   *     memory is too low
   */
  public ReceiveBuffers(
      ProtectionDomain domain, Arena arena, int count, int size, int postedTogether) {
    this.count = count;
    this.size = size;
    this.postedTogether = postedTogether;
    this.stride = (size + LINE - 1) / LINE * LINE;
    MemorySegment memory =
        NativeMemory.allocate(
            arena, count * stride, "use smaller values of receives or maxMessage");
    this.chain = new ReceiveChain(Math.min(count, SendQueue.MAX_CHAIN));
    this.view = memory.asReadOnly();
    this.address = memory.address();
    this.region =
        NativeMemory.registered(memory, () -> domain.register(memory, AccessFlags.LOCAL_WRITE));
  }

  /** {@return the number of buffers} */
  public int count() {
    return count;
  }

  /** Returns the maximum number of freed buffers that are posted together. */
  int postedTogether() {
    return postedTogether;
  }

  /**
   * Returns the memory of all buffers.
   *
   * @return a read-only segment
   */
  public MemorySegment view() {
    return view;
  }

  /**
   * Returns the offset of a buffer.
   *
   * @param buffer its number
   * @return the offset in {@link #view}
   */
  public long offset(int buffer) {
    return buffer * stride;
  }

  /**
   * Posts all buffers for the first time.
   *
   * @param queue the receive queue
   * @return 0, or -errno
   */
  public int postAll(ReceiveWorkQueue queue) {
    int[] all = new int[count];
    for (int i = 0; i < count; i++) {
      all[i] = i;
    }
    return post(queue, all, count);
  }

  /**
   * Posts buffers.
   *
   * @param buffers the numbers of the buffers
   * @param howMany how many of them to post
   * @return 0, or -errno
   */
  int post(ReceiveWorkQueue queue, int[] buffers, int howMany) {
    lock.lock();
    try {
      int done = 0;
      int result = 0;
      while (done < howMany && result >= 0 && !stopped) {
        int batch = set(buffers, done, howMany);
        result = queue.post(chain, 0, batch);
        done += batch;
      }
      return result;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Posts freed buffers of a connection, and then counts them in its window, under the same lock.
   *
   * @param freed the buffers; all of them are posted
   * @param batch the maximum number of buffers that are posted together
   * @return the number of buffers that were posted; or -errno
   */
  int post(ReceiveWorkQueue queue, BufferRing freed, int batch, Window window) {
    lock.lock();
    try {
      int done = 0;
      while (!stopped && !freed.isEmpty()) {
        int count = 0;
        while (count < batch && !freed.isEmpty()) {
          set(count, freed.poll());
          count++;
        }
        int result = queue.post(chain, 0, count);
        if (result < 0) {
          return result;
        }
        window.reposted(count);
        done += count;
      }
      return done;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Fills work requests for the remaining buffers, up to the chain's capacity; returns how many.
   */
  private int set(int[] buffers, int from, int to) {
    int batch = Math.min(to - from, chain.capacity());
    for (int i = 0; i < batch; i++) {
      set(i, buffers[from + i]);
    }
    return batch;
  }

  /** Posts one buffer. */
  int post(ReceiveWorkQueue queue, int buffer) {
    lock.lock();
    try {
      if (stopped) {
        return 0;
      }
      set(0, buffer);
      return queue.post(chain, 0, 1);
    } finally {
      lock.unlock();
    }
  }

  private void set(int index, int buffer) {
    chain.set(index, buffer, address + buffer * stride, size, region.localKey());
  }

  /** Stops posting, so that the queue pair can be destroyed. */
  public void stop() {
    lock.lock();
    try {
      stopped = true;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the registration; the arena releases the memory. */
  @Override
  public void close() {
    region.close();
  }

  /** Frees the pages, after {@link #close}. */
  public void discard() {
    NativeMemory.discard(region.segment());
  }
}
