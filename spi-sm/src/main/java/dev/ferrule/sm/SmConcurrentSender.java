// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.InvalidOptionException;
import dev.ferrule.SendRegion;
import dev.ferrule.WaitStrategy;
import dev.ferrule.sm.ring.ConcurrentRingProducer;
import dev.ferrule.sm.ring.CorruptRingException;
import dev.ferrule.sm.ring.RecordMemory;
import dev.ferrule.sm.ring.RingFactory;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.ring.SendingEnd;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The sending half for several threads at once, over a {@link ConcurrentRingProducer}. Every
 * message is published individually, even if it was added to the batch.
 *
 * <p>A thread that stops forever at any point delays the others briefly at most, and keeps its
 * claims.
 */
final class SmConcurrentSender extends SendingHalf {

  private final SmConnection connection;
  private final ConcurrentRingProducer producer;
  private final RoomWaiters waiters;
  private final IntPredicate isStuck = this::isStuck;

  /** The number of lines of a row of {@link #regions}. */
  private static final int ROW = 1024;

  /**
   * By first line, created on first use, and used only by the thread that has that line. In rows,
   * since the peer determines how many lines there are.
   */
  private final AtomicReferenceArray<@Nullable SmConcurrentSendRegion @Nullable []> regions;

  private volatile boolean handsOver;

  SmConcurrentSender(
      SmConnection connection,
      SharedRing peer,
      boolean fences,
      RingFactory ends,
      WaitStrategy wait) {
    super(connection, maxMessageSize(connection, peer));
    this.connection = connection;
    this.waiters = new RoomWaiters(this, wait);
    this.producer =
        ends.concurrentProducer(
            peer.layout(),
            peer.ring(),
            RecordMemory.of(peer.mapping(), peer.layout()),
            peer.buffer(),
            fences,
            waiters);
    this.regions = new AtomicReferenceArray<>((peer.layout().lines() + ROW - 1) / ROW);
  }

  private @Nullable SmConcurrentSendRegion[] row(int line) {
    int index = line / ROW;
    @Nullable SmConcurrentSendRegion[] known = regions.get(index);
    if (known != null) {
      return known;
    }
    @Nullable SmConcurrentSendRegion[] made = new SmConcurrentSendRegion[ROW];
    @Nullable SmConcurrentSendRegion[] other = regions.compareAndExchange(index, null, made);
    return other == null ? made : other;
  }

  private static int maxMessageSize(SmConnection connection, SharedRing peer) {
    RingLayout layout = peer.layout();
    if (layout.lines() == 0) {
      throw new InvalidOptionException(
          connection.uri(),
          "option concurrentSenders=on is not possible: the peer has no memory for messages that"
              + " are not inline; set its option buffer",
          null);
    }
    return (int) Math.min(layout.maxMessage(), (long) layout.lines() * RingLayout.LINE);
  }

  @Override
  protected SendRegion lend(int line, int length) {
    @Nullable SmConcurrentSendRegion[] row = row(line);
    SmConcurrentSendRegion region = row[line % ROW];
    if (region == null) {
      region = new SmConcurrentSendRegion(this, line);
      row[line % ROW] = region;
    }
    region.lend(producer.buffer(), length);
    return region;
  }

  void abort(SmConcurrentSendRegion region) {
    noteOwner(region.take());
    producer.abort(region.line());
  }

  @Override
  public long stage(SendRegion candidate, int length) {
    connection.checkOpen();
    if (!(candidate instanceof SmConcurrentSendRegion region) || !region.belongsTo(this)) {
      throw new IllegalArgumentException("the region was claimed from another connection");
    }
    region.checkSendable(length);
    noteOwner(region.take());
    return publish(region.line(), length);
  }

  /** Records that this program has threads which send the claims of others. */
  private void noteOwner(Thread claimant) {
    if (claimant != Thread.currentThread() && !handsOver) {
      handsOver = true;
    }
  }

  private long publish(int line, int length) {
    try {
      long id = producer.publish(line, length);
      wakeReceiver();
      return id;
    } catch (CorruptRingException e) {
      throw connection.failCorrupt(e);
    }
  }

  private void wakeReceiver() {
    int flag = producer.receiverAsleep();
    if (flag != 0) {
      wakeReceiver(flag);
    }
    Reference.reachabilityFence(this);
  }

  /**
   * Clears the flag after the wake-up, as other threads rely on the thread that clears it, and this
   * one may stop before. A receiver that was woken by its flag too early, because it was only about
   * to sleep, is woken again.
   */
  private void wakeReceiver(int flag) {
    if (SendingEnd.isOnFlag(flag)) {
      connection.wakeReceiver(flag);
      producer.receiverTold(flag);
      producer.wakeReceiver();
    } else if (connection.wakePeer()) {
      producer.receiverTold(flag); // otherwise the next sender wakes it
    }
  }

  @Override
  public long send(MemorySegment source, long offset, long length) {
    connection.checkOpen();
    Objects.checkFromIndexSize(offset, length, source.byteSize());
    checkLength(length);
    int size = (int) length;
    return size <= producer.inlineMax()
        ? sendInline(source, offset, size)
        : sendInLines(source, offset, size);
  }

  private long sendInline(MemorySegment source, long offset, int length) {
    long id = trySend(source, offset, length);
    if (id == ConcurrentRingProducer.NOT_SENT) {
      stalled();
      id = waiters.awaitSend(source, offset, length);
    }
    foundRoom(length);
    wakeReceiver();
    return id;
  }

  private long trySend(MemorySegment source, long offset, int length) {
    try {
      long id = producer.trySend(source, offset, length);
      Reference.reachabilityFence(this);
      return id;
    } catch (CorruptRingException e) {
      throw connection.failCorrupt(e);
    } catch (InternalError e) {
      throw connection.failOwnFile(e);
    }
  }

  long trySendIfOpen(MemorySegment source, long offset, int length) {
    connection.checkOpen();
    return trySend(source, offset, length);
  }

  private long sendInLines(MemorySegment source, long offset, int length) {
    int line = reserveOrWait(length);
    boolean copied = false;
    try {
      producer.write(source, offset, line, 0, length);
      copied = true;
    } catch (InternalError e) {
      throw connection.failOwnFile(e);
    } finally {
      if (!copied) {
        producer.abort(line); // the source may be a closed segment, or another thread's
      }
    }
    return publish(line, length);
  }

  /** A copy is published at once, as regions are. */
  @Override
  public long stage(MemorySegment source, long offset, long length) {
    return send(source, offset, length);
  }

  /** Does nothing: each message is published when it is staged. */
  @Override
  protected void publish() {}

  @Override
  public int staged() {
    return 0;
  }

  @Override
  protected long lastId() {
    return producer.messagesPublished();
  }

  @Override
  public boolean isComplete(long id) {
    checkId(id);
    return true;
  }

  @Override
  public void await(long id) {
    checkId(id);
  }

  @Override
  public void await(long id, Duration timeout) {
    checkId(id);
  }

  @Override
  protected int reserve(int length) {
    try {
      int line = producer.reserve(length);
      Reference.reachabilityFence(this);
      return line;
    } catch (CorruptRingException e) {
      throw connection.failCorrupt(e);
    }
  }

  void checkConnected() {
    connection.checkOpen();
  }

  int reserveIfOpen(int length) {
    connection.checkOpen();
    return reserve(length);
  }

  @Override
  protected int awaitRoom(int length, boolean bounded, long deadline) {
    return waiters.await(length, bounded, deadline);
  }

  /**
   * Returns whether the thread would wait forever: all room is claimed by threads that wait for
   * more. Threads that wait with a deadline may release theirs; and where regions are passed
   * between threads, it is not known which thread will send them.
   */
  boolean isInVain(int length) {
    try {
      boolean result = !handsOver && producer.isAllClaimed(length, isStuck);
      Reference.reachabilityFence(this);
      return result;
    } catch (CorruptRingException e) {
      throw connection.failCorrupt(e);
    }
  }

  /**
   * Returns a number that changes whenever a thread claims, sends or aborts, or room is released.
   */
  long progress() {
    return producer.progress();
  }

  private boolean isStuck(int line) {
    SmConcurrentSendRegion region = row(line)[line % ROW];
    Thread owner = region == null ? null : region.owner();
    return owner != null && (owner == Thread.currentThread() || waiters.isStuck(owner));
  }

  @Override
  SendingEnd end() {
    return producer;
  }

  @Override
  void wakeThreads() {
    waiters.wake();
  }

  @Override
  void retire() {
    producer.retire();
  }

  @Override
  long bytes() {
    return producer.bytesPublished();
  }

  @Override
  long sleeps() {
    return waiters.sleeps();
  }
}
