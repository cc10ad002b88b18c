// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.InvalidOptionException;
import dev.ferrule.SendRegion;
import dev.ferrule.WaitStrategy;
import dev.ferrule.sm.ring.ConcurrentRingProducer;
import dev.ferrule.sm.ring.CorruptRingException;
import dev.ferrule.sm.ring.RingEnds;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.ring.SendingEnd;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The sending half for several threads at once, over a {@link ConcurrentRingProducer}. Every
 * message is published by itself, also if it was added to the batch.
 *
 * <p>There is no lock here, nor anything that a thread has to come back for: one that stops for
 * ever, wherever that is, only keeps what it has claimed.
 */
final class SmConcurrentSender extends SendingHalf {

  private final SmConnection connection;
  private final ConcurrentRingProducer producer;
  private final RoomWaiters waiters;
  private final IntPredicate isStuck = this::isStuck;
  private final LongAdder bytes = new LongAdder();

  /** By first line, made when first needed, and used only by whoever has that line. */
  private final @Nullable SmConcurrentSendRegion[] regions;

  private volatile boolean handsOver;

  SmConcurrentSender(SmConnection connection, SharedRing peer, RingEnds ends, WaitStrategy wait) {
    super(connection, maxMessageSize(connection, peer));
    this.connection = connection;
    this.waiters = new RoomWaiters(this, wait);
    this.producer =
        ends.concurrentProducer(
            peer.layout(), peer.ring(), peer.buffer(), peer.needsFences(), waiters::wake);
    this.regions = new SmConcurrentSendRegion[peer.layout().lines()];
  }

  private static int maxMessageSize(SmConnection connection, SharedRing peer) {
    int result = peer.layout().maxSharedMessage();
    if (result < 0) {
      throw new InvalidOptionException(
          connection.uri(),
          "option concurrentSenders=on is not possible: the peer has no memory for messages that do"
              + " not ride inline; set its option buffer",
          null);
    }
    return result;
  }

  @Override
  protected SendRegion lend(int line, int length) {
    SmConcurrentSendRegion region = regions[line];
    if (region == null) {
      region = new SmConcurrentSendRegion(this, line);
      regions[line] = region;
    }
    region.lend(producer.buffer(), length);
    return region;
  }

  void abort(SmConcurrentSendRegion region) {
    noteOwner(region.take());
    producer.abort(region.line());
  }

  @Override
  protected long stage(SendRegion candidate, int length) {
    connection.checkOpen();
    if (!(candidate instanceof SmConcurrentSendRegion region) || !region.belongsTo(this)) {
      throw new IllegalArgumentException("the region was claimed from another connection");
    }
    region.checkSendable(length);
    noteOwner(region.take());
    return publish(region.line(), length);
  }

  /** Notes that this program has threads which send what others have claimed. */
  private void noteOwner(Thread claimant) {
    if (claimant != Thread.currentThread() && !handsOver) {
      handsOver = true;
    }
  }

  private long publish(int line, int length) {
    try {
      long id = producer.publish(line, length);
      bytes.add(length);
      int flag = producer.receiverAsleep();
      if (flag != 0) {
        wakeReceiver(flag);
      }
      Reference.reachabilityFence(this);
      return id;
    } catch (CorruptRingException e) {
      throw connection.failCorrupt(e);
    }
  }

  /**
   * The flag is put out when the receiver was told, as other threads rely on the one that puts it
   * out, and this one may stop before. A receiver that was told by its flag too early, as it was
   * only about to sleep, is told again.
   */
  private void wakeReceiver(int flag) {
    if (SendingEnd.isOnFlag(flag)) {
      connection.wakeReceiver(flag);
      producer.receiverTold(flag);
      producer.wakeReceiver();
    } else if (connection.wakePeer()) {
      producer.receiverTold(flag); // else the next one tells it
    }
  }

  @Override
  public long send(MemorySegment source, long offset, long length) {
    connection.checkOpen();
    Objects.checkFromIndexSize(offset, length, source.byteSize());
    checkLength(length);
    int size = (int) length;
    int line = reserveOrWait(size);
    boolean copied = false;
    try {
      producer.write(source, offset, line, RingLayout.SHARED_PREFIX, size);
      copied = true;
    } catch (InternalError e) {
      throw connection.failOwnFile(e);
    } finally {
      if (!copied) {
        producer.abort(line); // the source may be a segment that is closed, or another thread's
      }
    }
    return publish(line, size);
  }

  /** Nothing is left to do: each message is published when it is staged. */
  @Override
  protected void publish() {}

  @Override
  protected int staged() {
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

  int reserveIfOpen(int length) {
    connection.checkOpen();
    return reserve(length);
  }

  @Override
  protected int awaitRoom(int length, boolean bounded, long deadline) {
    return waiters.await(length, bounded, deadline);
  }

  /**
   * Tells whether the thread waits for ever, unless something happens yet: all the room is claimed
   * by threads that wait for more. Those that wait with a deadline may give theirs back; and where
   * regions are handed over, nobody knows who is going to send them.
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

  /** A number that changes whenever a thread claims, sends or aborts, or room is given back. */
  long progress() {
    return producer.progress();
  }

  private boolean isStuck(int line) {
    SmConcurrentSendRegion region = regions[line];
    Thread owner = region == null ? null : region.owner();
    return owner != null && (owner == Thread.currentThread() || waiters.isStuck(owner));
  }

  @Override
  SendingEnd end() {
    return producer;
  }

  @Override
  void wake() {
    waiters.wake();
  }

  @Override
  long bytes() {
    return bytes.sum();
  }

  @Override
  long sleeps() {
    return waiters.sleeps();
  }
}
