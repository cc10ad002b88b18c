// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.spi.Threads;
import dev.ferrule.verbs.Errno;
import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.queue.Channel;
import dev.ferrule.verbs.queue.SendQueue;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One group of receive buffers for many connections, in a shared receive queue. A single thread
 * posts those of messages again, of all connections together; each connection hands it what its
 * receiver frees through a queue without locks. Those of control messages are posted by whoever
 * polls, for a peer may be waiting to hear of that.
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

  /** A window that is worth its name, as long as a few more connections can come. */
  private static final int LEAST_SHARE = 8;

  private static final int MAX_SHARE = 1024;

  private final SharedReceiveQueue queue;
  private final ReceiveBuffers buffers;
  private final AtomicReferenceArray<@Nullable Share>
      holders; // by buffer, while a message is in it
  private final int mostTaken; // by one connection at a time
  private final List<Share> shares = new CopyOnWriteArrayList<>();
  private final ConcurrentLinkedQueue<Integer> strays = new ConcurrentLinkedQueue<>();

  // What is to be posted next; the thread's.
  private final int[] batch = new int[BATCH];
  private final @Nullable Share[] owners = new Share[BATCH]; // those of a share are side by side
  private int batched;

  private final Thread thread;
  private int available; // credits that no connection has; under the monitor
  private volatile boolean asleep;
  private volatile boolean stopped;
  private volatile @Nullable Throwable fault; // what has ended the thread

  /**
   * Posts all buffers, and starts the thread.
   *
   * @param queue the shared receive queue
   * @param buffers the buffers, none of which is posted
   * @param credits whether the peers send only what they have credit for; a message without ends
   *     its connection
   */
  public SharedReceives(SharedReceiveQueue queue, ReceiveBuffers buffers, boolean credits) {
    this.queue = queue;
    this.buffers = buffers;
    this.mostTaken = credits ? Math.min(maxShare(), buffers.count()) : buffers.count();
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
   * @throws VerbsException if buffers are not posted any more
   */
  public synchronized @Nullable Share admit() {
    Throwable why = fault;
    if (why != null) {
      throw new VerbsException(
          "ibv_post_srq_recv", "", Errno.EIO, "the thread that calls it has ended: " + why, why);
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
    try {
      while (!stopped) {
        if (!repostAll()) {
          sleep();
        }
      }
    } catch (Throwable e) { // nobody else posts, so no peer could send anything any more
      fault = e;
      shares.forEach(Share::tellFault);
    }
  }

  /**
   * Waits for buffers. No wake-up is missed: whoever has a buffer puts it into a queue before
   * looking whether the thread is asleep, and the thread looks into the queues after saying so. Nor
   * is there anything in between that would use an early wake-up up.
   */
  private void sleep() {
    asleep = true;
    if (!repostAll() && !stopped) {
      LockSupport.park(this);
    }
    asleep = false;
  }

  /** Posts what there is to post, of all connections together; returns whether there was any. */
  private boolean repostAll() {
    boolean any = takeStrays();
    for (Share share : shares) {
      any |= share.takeFreed();
    }
    post();
    return any;
  }

  private boolean takeStrays() {
    boolean any = false;
    for (Integer stray = strays.poll(); stray != null; stray = strays.poll()) {
      add(stray, null);
      any = true;
    }
    return any;
  }

  private void add(int buffer, @Nullable Share owner) {
    batch[batched] = buffer;
    owners[batched] = owner;
    batched++;
    if (batched == BATCH) {
      post();
    }
  }

  /** Posts the batch by one call, and then gives each connection credit for its part of it. */
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
        owners[next] = null; // or a closed connection would be kept in memory
        next++;
      }
      if (owner != null && result >= 0) {
        owner.reposted(next - start);
      }
    }
    if (result < 0) {
      shares.forEach(share -> share.tellFailure(-result)); // they all lack these buffers
    }
  }

  /** Ends the thread. The queue is closed by whoever made it. */
  @Override
  public void close() {
    stopped = true;
    buffers.stop();
    LockSupport.unpark(thread);
    Threads.awaitEnd(thread);
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
      this.freed = new BufferRing(mostTaken);
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

    /**
     * Returns how many messages can be received and not be posted again by the group's thread, at
     * most. With credits that is the largest share: the peer may have sent no more than the share
     * beyond what is posted again, and a message beyond that is not delivered.
     *
     * @return the number of messages
     */
    int mostTaken() {
      return mostTaken;
    }

    void join(Channel newChannel, Window newWindow) {
      window = newWindow;
      channel = newChannel;
      shares.add(this);
      tellFault();
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

    @Override
    public boolean keepsAny() {
      return false;
    }

    /** Puts what has come back into the batch; by the group's thread. */
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
      takeStrays(); // what the program held, and whatever else came of this connection
      post();
      shares.remove(this);
      giveBack();
      return true;
    }

    /** Buffers of this connection are posted again; by the group's thread. */
    private void reposted(int count) {
      Channel known = channel;
      Window credits = window;
      if (!closed && known != null && credits != null) {
        credits.reposted(regrant(this, count));
        known.reportIfDue();
      }
    }

    private void tellFailure(int errno) {
      Channel known = channel;
      if (!closed && known != null) {
        known.link().onPostFailure("ibv_post_srq_recv", errno);
      }
    }

    private void tellFault() {
      Channel known = channel;
      Throwable why = fault;
      if (!closed && known != null && why != null) {
        known.link().onFault("the thread that posts the shared receives has ended: " + why);
      }
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
