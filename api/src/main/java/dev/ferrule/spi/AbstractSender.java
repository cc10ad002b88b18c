// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.Batch;
import dev.ferrule.MessageTooLongException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * What the senders of all providers do alike: the ways to claim, the batch, and checking arguments.
 * How a message gets to the peer is the provider's.
 */
public abstract class AbstractSender implements Sender {

  /** In place of where a message may lie: there is no room. */
  public static final int FULL = -2;

  private final int maxMessageSize;
  private final Batch batch = new StagedBatch();
  private final LongAdder stalls = new LongAdder(); // some senders take several threads

  /**
   * For providers.
   *
   * @param maxMessageSize the longest message that the peer takes, in bytes
   */
  protected AbstractSender(int maxMessageSize) {
    this.maxMessageSize = maxMessageSize;
  }

  /**
   * Names the connection in errors.
   *
   * @return its URI
   */
  protected abstract URI uri();

  /** Throws if the connection has ended. */
  protected abstract void checkOpen();

  /**
   * Takes room for a message, without waiting.
   *
   * @param length its length in bytes, which is right
   * @return where it may lie, in the provider's own terms; or {@link #FULL}
   */
  protected abstract int reserve(int length);

  /**
   * Waits for room.
   *
   * @param length the message's length in bytes
   * @param bounded whether there is a deadline
   * @param deadline until when, by System.nanoTime; only looked at if bounded
   * @return where it may lie; FULL after the deadline
   */
  protected abstract int awaitRoom(int length, boolean bounded, long deadline);

  /**
   * Lends a region.
   *
   * @param place what reserving returned
   * @param length the message's length in bytes
   * @return the region
   */
  protected abstract SendRegion lend(int place, int length);

  /**
   * Takes a region's message over, which the peer does not see before {@link #publish}.
   *
   * @param region a region of this sender's
   * @param length the message's length in bytes
   * @return the message's id
   */
  protected abstract long stage(SendRegion region, int length);

  /** Hands all that is staged to the transport. */
  protected abstract void publish();

  /**
   * Returns how many messages are staged and not published.
   *
   * @return the number
   */
  protected abstract int staged();

  /**
   * Returns the id of the message staged last, by whichever thread.
   *
   * @return the id; ids count from 1
   */
  protected abstract long lastId();

  @Override
  public final int maxMessageSize() {
    return maxMessageSize;
  }

  @Override
  public final @Nullable SendRegion tryClaim(int length) {
    int place = checkAndReserve(length);
    if (place == FULL) {
      stalls.increment();
      return null;
    }
    return lend(place, length);
  }

  @Override
  public final SendRegion claim(int length) {
    int place = checkAndReserve(length);
    return lend(place == FULL ? stall(length, false, 0) : place, length);
  }

  @Override
  public final SendRegion claim(int length, Duration timeout) {
    int place = checkAndReserve(length);
    if (place == FULL) {
      place = stall(length, true, Deadlines.after(timeout));
      if (place == FULL) {
        throw new OperationTimeoutException(
            uri(),
            "no room for a message of " + length + " bytes in time: the peer does not keep up",
            null);
      }
    }
    return lend(place, length);
  }

  /** What is wrong with a connection comes before what is wrong with a length. */
  private int checkAndReserve(int length) {
    checkOpen();
    checkLength(length);
    return reserve(length);
  }

  /**
   * Takes room for a message, waiting as long as it takes.
   *
   * @param length its length in bytes, which is right
   * @return where it may lie
   */
  protected final int reserveOrWait(int length) {
    int place = reserve(length);
    return place == FULL ? stall(length, false, 0) : place;
  }

  private int stall(int length, boolean bounded, long deadline) {
    stalled();
    return awaitRoom(length, bounded, deadline);
  }

  /** Notes that there was no room, and publishes what is staged, for that takes up room as well. */
  protected final void stalled() {
    stalls.increment();
    flush();
  }

  /**
   * Checks the length of a message.
   *
   * @param length its length in bytes
   */
  protected final void checkLength(long length) {
    if (length < 0) {
      throw new IllegalArgumentException("a message cannot have " + length + " bytes");
    }
    if (length > maxMessageSize) {
      throw new MessageTooLongException(uri(), length, maxMessageSize);
    }
  }

  /**
   * Checks the id of a message.
   *
   * @param id what the program calls one
   */
  protected final void checkId(long id) {
    if (id < 1 || id > lastId()) {
      throw new IllegalArgumentException(
          "no message of this connection has the id " + id + "; the last one was " + lastId());
    }
  }

  @Override
  public final long sendAsync(SendRegion region) {
    return sendAsync(region, region.length());
  }

  @Override
  public final long sendAsync(SendRegion region, int length) {
    long id = stage(region, length);
    publish();
    return id;
  }

  @Override
  public final Batch batch() {
    return batch;
  }

  /** Publishes what is staged, if anything is. */
  protected final void flush() {
    if (staged() > 0) {
      checkOpen();
      publish();
    }
  }

  /**
   * Returns how often there was no room.
   *
   * @return the number of times
   */
  public final long stalls() {
    return stalls.sum();
  }

  /** What is staged and not published. */
  private final class StagedBatch implements Batch {

    @Override
    public long add(SendRegion region) {
      return add(region, region.length());
    }

    @Override
    public long add(SendRegion region, int length) {
      return stage(region, length);
    }

    @Override
    public int size() {
      return staged();
    }

    @Override
    public void flush() {
      AbstractSender.this.flush();
    }
  }
}
