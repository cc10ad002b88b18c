// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.VerbsException;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One group of receive buffers for many connections, in a shared receive queue. A single thread
 * posts those of messages again; each connection hands it what its receiver frees through a queue
 * without locks. Those of control messages are posted by whoever polls, for a peer may be waiting
 * to hear of that.
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
    boolean any = repostStrays();
    for (Share share : shares) {
      any |= share.repost();
    }
    return any;
  }

  private boolean repostStrays() {
    boolean any = false;
    Integer stray = strays.poll();
    while (stray != null) {
      int count = 0;
      while (stray != null) {
        batch[count++] = stray;
        stray = count < BATCH ? strays.poll() : null;
      }
      buffers.post(queue, batch, count);
      any = true;
      stray = strays.poll();
    }
    return any;
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

  /**
   * A connection's part of the group. When the connection closes, the part is given back only when
   * every buffer that was taken for it is posted again, for until then nobody else may count on it.
   */
  public final class Share implements Returns {

    private final int first;
    private final int limit;
    private volatile int size; // credits; written under the group's monitor
    private final BufferRing freed;
    private final AtomicLong taken = new AtomicLong(); // written under the receive queue's lock
    private long returned; // by the group's thread
    private volatile long strayed; // once, when closing
    private volatile boolean closed;
    private volatile @Nullable Channel channel;
    private @Nullable Window window;

    private Share(int first) {
      this.first = first;
      this.size = first;
      this.limit = maxShare();
      this.freed = new BufferRing(buffers.count());
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
      taken.setRelease(taken.getPlain() + 1);
      holders.set(buffer, this);
    }

    @Override
    public int control(int buffer) {
      int result = buffers.post(queue, buffer);
      Window credits = window;
      if (credits != null) {
        credits.controlTaken();
      }
      return result;
    }

    @Override
    public void dropped(int buffer) {
      stray(buffer);
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
      boolean over = closed && strayed >= 0 && returned + strayed == taken.getAcquire();
      int count = 0;
      int buffer = freed.poll();
      while (buffer >= 0) {
        batch[count++] = buffer;
        buffer = count < BATCH ? freed.poll() : -1;
      }
      if (count == 0) {
        if (over) {
          repostStrays(); // what the program held, and whatever else came of this connection
          shares.remove(this);
          giveBack();
        }
        return over;
      }
      returned += count;
      int result = buffers.post(queue, batch, count);
      if (closed) {
        return true;
      }
      credits.reposted(regrant(this, count));
      if (result < 0) {
        known.link().onPostFailure("ibv_post_srq_recv", -result);
      } else {
        known.grantIfDue();
      }
      return true;
    }

    @Override
    public void close() {
      strayed = -1; // not known yet
      closed = true;
      long count = 0;
      for (int i = 0; i < buffers.count(); i++) {
        if (holders.compareAndSet(i, this, null)) {
          strays.add(i);
          count++;
        }
      }
      strayed = count;
      wake();
    }

    /** Gives the share back if no connection has been made of it. */
    public void leave() {
      if (channel == null) {
        giveBack();
      }
    }

    private void giveBack() {
      synchronized (SharedReceives.this) {
        available += size + Window.CONTROL_RECEIVES;
        size = -Window.CONTROL_RECEIVES; // once
      }
    }
  }
}
