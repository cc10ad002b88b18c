// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.support.Threads;
import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.VerbsException;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A group of receive buffers in a shared receive queue, used by many connections. A single thread
 * reposts the buffers of messages for all connections. Each connection passes the buffers that its
 * receiver frees to that thread through a lock-free queue. The polling thread reposts the buffers
 * of control messages itself, because a peer may be waiting for the confirmation.
 *
 * <p>The credits of all connections never exceed the number of buffers, so a receive is posted for
 * every message that can arrive. A connection starts with a small share. The share grows with use
 * while there are spare buffers, and shrinks when they become scarce.
 *
 * <p><b>Threads:</b> any thread may call these methods, unless stated otherwise.
 */
public final class SharedReceives implements AutoCloseable {

  private static final int FIRST_SHARE = 32;

  /**
   * Limits a first share to this fraction of the free buffers, to leave enough for later
   * connections.
   */
  private static final int FIRST_SHARE_OF_ALL = 16;

  /** The smallest useful share. It is granted when only a few more connections can be admitted. */
  private static final int LEAST_SHARE = 8;

  private static final int MAX_SHARE = 1024;

  /** The pause while the heap is full. */
  private static final long BACK_OFF_NANOS = 10_000_000;

  private final SharedReceiveQueue queue;
  private final ReceiveBuffers buffers;
  // the owner of each buffer that contains a message
  private final AtomicReferenceArray<@Nullable Share> holders;
  private final int mostTaken; // the maximum of one connection at a time
  private final List<Share> shares = new CopyOnWriteArrayList<>();
  private final ConcurrentLinkedQueue<Integer> unowned = new ConcurrentLinkedQueue<>();

  // The next batch to post. Used only by the group's thread.
  private final int[] batch;
  private final @Nullable Share[] owners; // equal owners are adjacent
  private int batched;

  private final Thread thread;
  private int available; // credits assigned to no connection; under the monitor
  private volatile boolean asleep;
  private volatile boolean stopped;
  private volatile @Nullable Throwable fault; // what ended the thread

  /**
   * Posts all buffers and starts the thread.
   *
   * @param queue the shared receive queue
   * @param buffers the buffers; none of them is posted yet
   * @param credits whether peers use credits; a message without credit then ends its connection
   */
  public SharedReceives(SharedReceiveQueue queue, ReceiveBuffers buffers, boolean credits) {
    this.queue = queue;
    this.buffers = buffers;
    this.mostTaken = credits ? Math.min(maxShare(), buffers.count()) : buffers.count();
    this.holders = new AtomicReferenceArray<>(buffers.count());
    this.available = buffers.count();
    this.batch = new int[buffers.postedTogether()];
    this.owners = new Share[batch.length];
    int result = buffers.postAll(queue);
    if (result < 0) {
      throw new VerbsException("ibv_post_srq_recv", buffers.count() + " receives", -result);
    }
    this.thread = Thread.ofPlatform().daemon().name("ferrule-sendrecv reposter").start(this::run);
  }

  /** {@return the buffers} */
  public ReceiveBuffers buffers() {
    return buffers;
  }

  /**
   * Admits a connection.
   *
   * @return its share; null if too few buffers are left
   * @throws VerbsException if the thread that reposts buffers has ended
   */
  public synchronized @Nullable Share admit() {
    Throwable why = fault;
    if (why != null) {
      throw new VerbsException(
          "ibv_post_srq_recv", "", Errno.EIO, "the reposting thread has ended: " + why, why);
    }
    if (available <= Window.CONTROL_RECEIVES) {
      return null;
    }
    int fair = available / FIRST_SHARE_OF_ALL - Window.CONTROL_RECEIVES;
    int least = Math.min(LEAST_SHARE, available / 4 - Window.CONTROL_RECEIVES);
    int first = Math.clamp(Math.max(fair, least), 1, FIRST_SHARE);
    available -= first + Window.CONTROL_RECEIVES;
    return new Share(first);
  }

  /** {@return the maximum number of credits of a connection} */
  public int maxShare() {
    return Math.max(FIRST_SHARE, Math.min(buffers.count() / 2, MAX_SHARE));
  }

  /**
   * Adapts a share when some of its buffers have been returned; returns the change. The share never
   * falls below its first size, on which the peer relies.
   */
  private synchronized int regrant(Share share, int returned) {
    if (share.size < 0) {
      return -returned; // the connection has left the group
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
    return change;
  }

  /**
   * Reposts a buffer that belongs to no connection.
   *
   * @param buffer its number
   */
  public void repostUnowned(int buffer) {
    unowned.add(buffer);
    wake();
  }

  private void wake() {
    VarHandle.fullFence(); // between adding a buffer and reading asleep
    if (asleep) {
      LockSupport.unpark(thread);
    }
  }

  private void run() {
    try {
      while (!stopped) {
        try {
          if (!repostAll()) {
            sleep();
          }
        } catch (OutOfMemoryError e) { // of an iterator; a batch that has been started waits
          Threads.pause(BACK_OFF_NANOS);
        }
      }
    } catch (Throwable e) { // no other thread reposts, so no peer could send again
      fault = e;
      shares.forEach(Share::reportFault);
    }
  }

  /**
   * Waits for buffers. No wake-up is missed: a thread adds a buffer to a queue before it checks
   * whether this thread is asleep, and this thread checks the queues after it has set {@code
   * asleep}, each with a full fence in between. While {@code asleep} is set, nothing before the
   * park consumes an early unpark.
   */
  private void sleep() {
    asleep = true;
    VarHandle.fullFence();
    if (!repostAll() && !stopped) {
      LockSupport.park(this);
    }
    asleep = false;
  }

  /** Reposts all returned buffers of all connections together; returns whether there were any. */
  private boolean repostAll() {
    boolean any = takeUnowned();
    for (Share share : shares) {
      any |= share.takeFreed();
    }
    post();
    return any;
  }

  private boolean takeUnowned() {
    boolean any = false;
    for (Integer buffer = unowned.poll(); buffer != null; buffer = unowned.poll()) {
      add(buffer, null);
      any = true;
    }
    return any;
  }

  private void add(int buffer, @Nullable Share owner) {
    batch[batched] = buffer;
    owners[batched] = owner;
    batched++;
    if (batched == batch.length) {
      post();
    }
  }

  /** Posts the batch by one call, and then credits each connection with its part of it. */
  private void post() {
    int count = batched;
    if (count == 0) {
      return;
    }
    batched = 0;
    int result = buffers.post(queue, batch, count);
    int next = 0;
    while (next < count) {
      Share owner = owners[next];
      int start = next;
      while (next < count && owners[next] == owner) {
        owners[next] = null; // otherwise a closed connection would stay reachable
        next++;
      }
      if (owner != null && result >= 0) {
        owner.reposted(next - start);
      }
    }
    if (result < 0) {
      shares.forEach(share -> share.reportFailure(-result)); // all connections lack these buffers
    }
  }

  /** Ends the thread. The creator of the queue closes the queue. */
  @Override
  public void close() {
    stopped = true;
    buffers.stop();
    LockSupport.unpark(thread);
    Threads.awaitEnd(thread);
  }

  /**
   * A connection's share of the group. When the connection closes, its share is released only after
   * every buffer that it has taken is reposted. Until then, those credits cannot be granted again.
   */
  public final class Share implements BufferReposter {

    private final int first;
    private final int limit;
    private volatile int size; // credits; written under the monitor of the group
    private final BufferRing freed;
    private final AtomicLong taken = new AtomicLong(); // written under the receive queue's lock
    private long returned; // by the group's thread
    private volatile long strayed; // set once, at the close
    private volatile boolean closed;
    private volatile @Nullable Channel channel;
    private @Nullable Window window;

    private Share(int first) {
      this.first = first;
      this.size = first;
      this.limit = maxShare();
      this.freed = new BufferRing(mostTaken);
    }

    /** {@return the number of messages that the peer may send at first} */
    public int first() {
      return first;
    }

    /**
     * Returns the number of held messages at which no more can arrive.
     *
     * @return the number of credits; it changes as messages are freed
     */
    public int capacity() {
      return size;
    }

    /**
     * {@return the maximum number of received messages whose buffers the group's thread has not
     * reposted} With credits, this is the maximum share: a peer sends at most its share beyond the
     * reposted messages, and any further message is not delivered.
     */
    int mostTaken() {
      return mostTaken;
    }

    void join(Channel newChannel, Window newWindow) {
      window = newWindow;
      channel = newChannel;
      shares.add(this);
      reportFault();
    }

    @Override
    public void filled(int buffer) {
      taken.setRelease(taken.getPlain() + 1);
      holders.set(buffer, this);
    }

    @Override
    public int control(int buffer) {
      int result = buffers.post(queue, buffer);
      Window credits = window;
      if (credits != null) {
        credits.controlReposted();
      }
      return result;
    }

    @Override
    public void dropped(int buffer) {
      repostUnowned(buffer);
    }

    @Override
    public void free(int buffer) {
      if (holders.compareAndSet(buffer, this, null)) {
        freed.add(buffer);
        wake();
      }
    }

    @Override
    public void repostForBlockedPeer() {
      // nothing to do: the group's thread never holds buffers back
    }

    @Override
    public void repostAll() {
      // nothing to do: the group's thread never holds buffers back
    }

    /** Adds the returned buffers to the batch. By the group's thread. */
    private boolean takeFreed() {
      boolean over = closed && strayed >= 0 && returned + strayed == taken.getAcquire();
      boolean any = false;
      for (int buffer = freed.poll(); buffer >= 0; buffer = freed.poll()) {
        returned++;
        add(buffer, this);
        any = true;
      }
      if (any || !over) {
        return any;
      }
      takeUnowned(); // buffers that the program held at the close, and other unowned ones
      post();
      shares.remove(this);
      giveBack();
      return true;
    }

    /** Records that buffers of this connection are reposted. By the group's thread. */
    private void reposted(int count) {
      Channel known = channel;
      Window credits = window;
      if (!closed && known != null && credits != null) {
        credits.reposted(count, regrant(this, count));
        known.reportIfDue();
      }
    }

    private void reportFailure(int errno) {
      Channel known = channel;
      if (!closed && known != null) {
        known.callbacks().onCallFailure("ibv_post_srq_recv", errno);
      }
    }

    private void reportFault() {
      Channel known = channel;
      Throwable why = fault;
      if (!closed && known != null && why != null) {
        known.callbacks().onFault("the thread that reposts the shared receives has ended: " + why);
      }
    }

    @Override
    public void close() {
      strayed = -1; // not yet known
      closed = true;
      long count = 0;
      for (int i = 0; i < buffers.count(); i++) {
        if (holders.compareAndSet(i, this, null)) {
          unowned.add(i);
          count++;
        }
      }
      strayed = count;
      wake();
    }

    /** Releases the share if no connection was opened with it. */
    public void leave() {
      if (channel == null) {
        giveBack();
      }
    }

    private void giveBack() {
      synchronized (SharedReceives.this) {
        available += size + Window.CONTROL_RECEIVES;
        size = -Window.CONTROL_RECEIVES; // prevents a second release
      }
    }
  }
}
