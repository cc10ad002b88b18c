// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.posix.DatagramSocket;
import dev.ferrule.posix.EventPoll;
import dev.ferrule.posix.Fifo;
import dev.ferrule.support.Threads;
import java.util.concurrent.TimeUnit;

/**
 * The control thread of an endpoint. It handles handshake datagrams, FIFO headers, keepalives, and
 * the errors that epoll reports on a peer's FIFO when its reader dies. Messages never pass through
 * it.
 *
 * <p><b>Threads:</b> any thread may call the methods that are not private.
 */
final class EndpointLoop {

  private static final long SOCKET_KEY = (1L << 32) + 1;
  private static final long FIFO_KEY = (1L << 32) + 2;
  private static final int MAX_DATAGRAMS_AT_ONCE = 64;

  /** At least as many as a socket queues: net.unix.max_dgram_qlen is 512 with systemd, or 10. */
  private static final int MAX_QUEUED_DATAGRAMS = 1024;

  /** Later than any time by System.nanoTime. */
  static final long NEVER = Long.MAX_VALUE;

  /** The pause after a failure that may recur at once. */
  private static final long BACK_OFF_NANOS = 100_000_000;

  /** The longest wait of {@link #awaitDatagrams}. */
  private static final long MAX_WAIT_NANOS = 1_000_000_000;

  private final Endpoint endpoint;
  private final DatagramSocket socket;
  private final Fifo.Reader fifo;
  private final EventPoll poll;
  private final Guard guard;
  private final Links links;
  private final Datagrams datagrams;
  private final Thread thread;
  private volatile boolean stopped;
  private long offersAt = NEVER; // by System.nanoTime; confined to the thread
  private volatile boolean offersChanged;
  private final Object reading = new Object();

  /**
   * All datagrams that arrived before this time are handled. By System.nanoTime; guarded by {@link
   * #reading}.
   */
  private long readUntil = System.nanoTime();

  /** Creates the thread, which closes the socket, the FIFO and the poll when it ends. */
  EndpointLoop(Endpoint endpoint, DatagramSocket socket, Fifo.Reader fifo, EventPoll poll) {
    this.endpoint = endpoint;
    this.socket = socket;
    this.fifo = fifo;
    this.poll = poll;
    poll.addReadable(socket.fd(), SOCKET_KEY);
    poll.addReadable(fifo.fd(), FIFO_KEY);
    this.guard = new Guard(endpoint.address());
    this.links = new Links(poll, guard);
    this.datagrams = new Datagrams(endpoint, socket, guard);
    this.thread =
        Thread.ofPlatform()
            .daemon()
            .name("ferrule-sm " + endpoint.address().endpoint())
            .unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  /** Ends the thread, and waits for that unless it is the current one, as in a close callback. */
  void stop() {
    stopped = true;
    poll.wake();
    if (!isCurrentThread()) {
      Threads.awaitEnd(thread);
    }
  }

  boolean isCurrentThread() {
    return Thread.currentThread() == thread;
  }

  Links links() {
    return links;
  }

  /** Wakes the thread to recompute when an offer is to be repeated. */
  void wakeForOffer() {
    offersChanged = true;
    poll.wake();
  }

  /**
   * Waits until the datagrams that have arrived by now are handled. After this process was stopped
   * for a time, this distinguishes clients that have confirmed from those that have not. The
   * endpoint's own thread does not wait. Other threads wait for at most a second, because the
   * endpoint's thread may be in a close callback that blocks.
   */
  void awaitDatagrams() throws InterruptedException {
    if (!isCurrentThread()) {
      awaitDatagrams(MAX_WAIT_NANOS);
    }
  }

  /** As {@link #awaitDatagrams()}, for a given time at most; returns whether they are handled. */
  boolean awaitDatagrams(long nanos) throws InterruptedException {
    long now = System.nanoTime();
    wakeForOffer();
    synchronized (reading) {
      long left = nanos;
      while (!stopped && readUntil - now < 0 && left > 0) {
        TimeUnit.NANOSECONDS.timedWait(reading, left);
        left = nanos - (System.nanoTime() - now);
      }
      return readUntil - now >= 0;
    }
  }

  private void run() {
    try {
      while (!stopped) {
        try {
          turn();
        } catch (Throwable e) { // the heap is full, as the work itself is guarded
          recover(e);
        }
      }
    } finally {
      cleanUp();
    }
  }

  private void recover(Throwable problem) {
    try {
      links.repeatAll();
      offersChanged = true;
      guard.warn(problem);
      Threads.pause(BACK_OFF_NANOS);
    } catch (Throwable e) {
      return; // even to link a method for the first time takes heap
    }
  }

  /** Waits for events, and does what is due. */
  private void turn() {
    long due = Math.min(links.keepalivesAt(), offersAt);
    if (links.isWritePending()) { // there may be no event: the poll could not wait for room
      due = Math.min(due, System.nanoTime() + BACK_OFF_NANOS);
    }
    int events = poll.await(links.isPending() ? 0 : timeoutMs(due));
    for (int i = 0; i < events && !stopped; i++) {
      long key = poll.key(i);
      boolean broken = poll.isBroken(i);
      guard.run(() -> handle(key, broken));
    }
    links.work();
    if (links.takeCountersRequest()) {
      guard.run(() -> endpoint.publish(links.sample()));
    }
    if (offersChanged || isDue(offersAt, System.nanoTime())) {
      offersChanged = false;
      offersAt = tickOffers();
    }
  }

  static boolean isDue(long time, long now) {
    return time != NEVER && now - time >= 0;
  }

  private static int timeoutMs(long time) {
    return time == NEVER ? -1 : Math.clamp((time - System.nanoTime()) / 1_000_000 + 1, 0, 60_000);
  }

  private void handle(long key, boolean broken) {
    if (key == SOCKET_KEY) {
      datagrams.read(MAX_DATAGRAMS_AT_ONCE);
    } else if (key == FIFO_KEY) {
      readFifo();
    } else if (key >= 0) {
      links.handle((int) key, broken);
    }
  }

  private void readFifo() {
    int count = fifo.read();
    // a full FIFO may have rejected a wake-up or a close
    boolean complete = count < Fifo.Reader.BATCH && fifo.isWhole();
    for (int i = 0; i < count; i++) {
      try {
        links.handleHeader(fifo.header(i));
      } catch (Throwable e) { // not by guard, for which each header would need an object
        guard.warn(e);
      }
    }
    if (!complete) {
      links.requestFullCheck();
    }
  }

  /** Repeats offers, or ends them; returns when the next call is due. */
  private long tickOffers() {
    long now = System.nanoTime();
    guard.run(() -> datagrams.read(MAX_QUEUED_DATAGRAMS)); // an ACK that arrived in time counts
    Acceptor current = endpoint.acceptor();
    long next = current == null ? NEVER : current.repeatOffers(now, guard);
    synchronized (reading) {
      readUntil = now;
      reading.notifyAll();
    }
    return next;
  }

  private void cleanUp() {
    synchronized (reading) {
      reading.notifyAll();
    }
    Acceptor current = endpoint.acceptor();
    if (current != null) {
      guard.run(current::close);
    }
    endpoint.removeDirectory();
    poll.close();
    socket.close();
    fifo.close();
  }
}
