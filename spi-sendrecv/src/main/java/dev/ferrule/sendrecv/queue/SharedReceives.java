// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.VerbsException;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One group of receive buffers for many connections, in a shared receive queue. A single thread
 * posts them again; the connections hand them to it through queues without locks, one for what
 * their receivers free and one for control messages.
 *
 * <p>The credits of all connections together are never more than the buffers, so that there is a
 * receive for every message that can come. A connection starts with a small share, which grows as
 * it uses it while there are buffers to spare, and shrinks when they get scarce.
 *
 * <p><b>Threads:</b> any thread may call, unless it says otherwise.
 */
public final class SharedReceives implements AutoCloseable {

  private static final int BATCH = SendQueue.MAX_CHAIN;
  private static final int FIRST_SHARE = 32;

  /** So that, after some connections, there are enough left for many more. */
  private static final int FIRST_SHARE_OF_ALL = 16;

  private static final int MAX_SHARE = 1024;
  private static final long NAP_NANOS = 50_000_000; // a wake-up that is missed costs no more

  private final SharedReceiveQueue queue;
  private final ReceiveBuffers buffers;
  private final AtomicReferenceArray<@Nullable Share>
      holders; // by buffer, while a message is in it
  private final List<Share> shares = new CopyOnWriteArrayList<>();
  private final ConcurrentLinkedQueue<Integer> strays = new ConcurrentLinkedQueue<>();
  private final int[] batch = new int[BATCH]; // the thread's
  private final Thread thread;
  private int available; // credits that no connection has; under the monitor
  private volatile boolean asleep;
  private volatile boolean stopped;

  /**
   * Posts all buffers, and starts the thread.
   *
   * @param queue the shared receive queue
   * @param buffers the buffers, none of which is posted
   */
  public SharedReceives(SharedReceiveQueue queue, ReceiveBuffers buffers) {
    this.queue = queue;
    this.buffers = buffers;
    this.holders = new AtomicReferenceArray<>(buffers.count());
    this.available = buffers.count();
    int result = buffers.postAll(queue);
    if (result < 0) {
      throw new VerbsException("ibv_post_srq_recv", buffers.count() + " receives", -result);
    }
    this.thread = Thread.ofPlatform().daemon().name("ferrule-sendrecv reposter").start(this::run);
  }

  /**
   * Returns the buffers.
   *
   * @return the buffers
   */
  public ReceiveBuffers buffers() {
    return buffers;
  }

  /**
   * Takes in a connection.
   *
   * @return its share; null if there are too few buffers left
   */
  public synchronized @Nullable Share admit() {
    if (available <= Window.CONTROL_RECEIVES) {
      return null;
    }
    int first =
        Math.clamp(available / FIRST_SHARE_OF_ALL - Window.CONTROL_RECEIVES, 1, FIRST_SHARE);
    available -= first + Window.CONTROL_RECEIVES;
    return new Share(first);
  }

  /**
   * Returns how many credits a connection can have, at most.
   *
   * @return the number
   */
  public int maxShare() {
    return Math.max(FIRST_SHARE, Math.min(buffers.count() / 2, MAX_SHARE));
  }

  /** How a share changes when so many buffers of it have come back; returns what to grant. */
  private synchronized int regrant(Share share, int returned) {
    if (share.size < 0) {
      return 0; // it has left
    }
    int plenty = buffers.count() / 4;
    int scarce = buffers.count() / 8;
    int change = 0;
    if (available > plenty) {
      change = Math.min(Math.min(returned, available - plenty), share.limit - share.size);
    } else if (available < scarce) {
      change = -Math.min(returned, share.size - Math.min(share.size, share.first));
    }
    share.size += change;
    available -= change;
    return returned + change;
  }

  /**
   * Posts a buffer again that no connection has.
   *
   * @param buffer its number
   */
  public void stray(int buffer) {
    strays.add(buffer);
    wake();
  }

  private void wake() {
    if (asleep) {
      LockSupport.unpark(thread);
    }
  }

  private void run() {
    while (!stopped) {
      if (!repostAll()) {
        asleep = true;
        if (!repostAll()) {
          LockSupport.parkNanos(this, NAP_NANOS);
        }
        asleep = false;
      }
    }
  }

  /** Posts what there is to post; returns whether there was anything. */
  private boolean repostAll() {
    boolean any = false;
    for (Share share : shares) {
      any |= share.repost();
    }
    int count = 0;
    Integer stray = strays.poll();
    while (stray != null && count < BATCH) {
      batch[count++] = stray;
      stray = count < BATCH ? strays.poll() : null;
    }
    if (count > 0) {
      buffers.post(queue, batch, count);
    }
    return any || count > 0;
  }

  /** Ends the thread. The queue is closed by whoever made it. */
  @Override
  public void close() {
    stopped = true;
    buffers.stop();
    LockSupport.unpark(thread);
    boolean interrupted = false;
    while (thread.isAlive() && thread != Thread.currentThread()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** A connection's part of the group. */
  public final class Share implements Returns {

    private final int first;
    private final int limit;
    private volatile int size; // credits; written under the group's monitor
    private final BufferRing freed;
    private final BufferRing controls;
    private volatile @Nullable Channel channel;
    private @Nullable Window window;

    private Share(int first) {
      this.first = first;
      this.size = first;
      this.limit = maxShare();
      this.freed = new BufferRing(buffers.count());
      this.controls = new BufferRing(2 * Window.CONTROL_RECEIVES);
    }

    /**
     * Returns how many messages the peer may send at first.
     *
     * @return the number of credits
     */
    public int first() {
      return first;
    }

    /**
     * Returns how many messages the program can hold by now before no more can come.
     *
     * @return the number of credits; it changes as messages are freed
     */
    public int capacity() {
      return size;
    }

    void join(Channel newChannel, Window newWindow) {
      window = newWindow;
      channel = newChannel;
      shares.add(this);
    }

    @Override
    public void taken(int buffer) {
      holders.set(buffer, this);
    }

    @Override
    public int control(int buffer) {
      controls.add(buffer);
      wake();
      return 0;
    }

    @Override
    public void free(int buffer) {
      if (holders.compareAndSet(buffer, this, null)) {
        freed.add(buffer);
        wake();
      }
    }

    @Override
    public void freeForStarvingPeer() {
      // the thread does not wait for more
    }

    /** Posts what has come back; by the group's thread. */
    private boolean repost() {
      Channel known = channel;
      Window credits = window;
      if (known == null || credits == null) {
        return false;
      }
      int controlCount = take(controls, 0);
      int count = take(freed, controlCount);
      if (count == 0) {
        return false;
      }
      int result = buffers.post(queue, batch, count);
      for (int i = 0; i < controlCount; i++) {
        credits.controlTaken();
      }
      if (count > controlCount) {
        credits.reposted(regrant(this, count - controlCount));
      }
      if (result < 0) {
        known.link().onPostFailure("ibv_post_srq_recv", -result);
      } else {
        known.grantIfDue();
      }
      return true;
    }

    private int take(BufferRing ring, int from) {
      int count = from;
      int buffer = count < BATCH ? ring.poll() : -1;
      while (buffer >= 0) {
        batch[count++] = buffer;
        buffer = count < BATCH ? ring.poll() : -1;
      }
      return count;
    }

    @Override
    public void close() {
      shares.remove(this);
      for (int i = 0; i < buffers.count(); i++) {
        if (holders.compareAndSet(i, this, null)) {
          strays.add(i);
        }
      }
      leave();
      wake();
    }

    /** Gives the share back without a connection having been made of it. */
    public void leave() {
      synchronized (SharedReceives.this) {
        available += size + Window.CONTROL_RECEIVES;
        size = -Window.CONTROL_RECEIVES; // once
      }
    }
  }
}
