// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.FerruleException;
import dev.ferrule.MessageTooLongException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The base class of the providers' senders: the variants of claiming, and argument checks. The
 * provider implements the transfer of messages.
 */
public abstract class AbstractSender implements Sender {

  /** Returned instead of a place if there is no space. */
  public static final int FULL = -2;

  private final int maxMessageSize;
  private volatile long stalls; // written by one thread at a time
  private @Nullable AwaitedRoom room; // of a program that waits for it by readiness

  /**
   * Creates a sender.
   *
   * @param maxMessageSize the peer's limit, in bytes
   */
  protected AbstractSender(int maxMessageSize) {
    this.maxMessageSize = maxMessageSize;
  }

  /** {@return the URI that identifies the connection in errors} */
  protected abstract URI uri();

  /** Throws if the connection has ended. */
  protected abstract void checkOpen();

  /**
   * Reserves space for a message, without waiting.
   *
   * @param length the message's length in bytes, already validated
   * @return the message's place, in the provider's own terms; or {@link #FULL}
   */
  protected abstract int reserve(int length);

  /**
   * Waits until space for a message can be reserved.
   *
   * @param length the message's length in bytes
   * @param deadline the deadline, by System.nanoTime; or {@link Deadlines#NEVER}
   * @return the message's place; FULL after the deadline
   */
  protected abstract int awaitRoom(int length, long deadline);

  /**
   * Claims space for a message and lends it to the program in one step, where that is cheaper than
   * to reserve it first. Without waiting.
   *
   * @param length the message's length in bytes, already validated
   * @return the region; null if there is none in this way
   */
  protected @Nullable SendRegion claimInPlace(int length) {
    return null;
  }

  /**
   * Lends a region to the program.
   *
   * @param place the place returned by reserving
   * @param length the message's length in bytes
   * @return the region
   */
  protected abstract SendRegion lend(int place, int length);

  /** Publishes all staged messages. */
  protected abstract void publish();

  /** {@return the id of the message staged last; ids start at 1} */
  protected abstract long lastId();

  @Override
  public final int maxMessageSize() {
    return maxMessageSize;
  }

  @Override
  public final @Nullable SendRegion tryClaim(int length) {
    SendRegion region = checkAndClaim(length);
    if (region != null) {
      return region;
    }
    stalls++;
    flush(); // what is staged occupies space, and the peer frees only what it has received
    int place = reserveAfterRequest(length);
    return place == FULL ? null : lend(place, length);
  }

  /** Requests that the readiness shows room, unless that is pending, and looks once more. */
  private int reserveAfterRequest(int length) {
    AwaitedRoom awaited = room;
    if (awaited == null) {
      return FULL;
    }
    awaited.foundNone(length);
    int place = reserve(length);
    if (place != FULL) {
      awaited.found(length);
    }
    return place;
  }

  /**
   * Called when room for a message was found: none is shown any more, unless others wait.
   *
   * @param length the message's length in bytes
   */
  protected final void foundRoom(int length) {
    AwaitedRoom awaited = room;
    if (awaited != null) {
      awaited.found(length);
    }
  }

  @Override
  public final SendRegion claim(int length) {
    SendRegion region = checkAndClaim(length);
    return region == null ? lend(stallAndFind(length), length) : region;
  }

  private int stallAndFind(int length) {
    int place = stall(length, Deadlines.NEVER);
    foundRoom(length);
    return place;
  }

  @Override
  public final SendRegion claim(int length, Duration timeout) {
    SendRegion region = checkAndClaim(length);
    if (region != null) {
      return region;
    }
    int place = stall(length, Deadlines.after(timeout));
    if (place == FULL) {
      place = reserveAfterRequest(length);
    } else {
      foundRoom(length);
    }
    if (place == FULL) {
      throw new OperationTimeoutException(
          uri(),
          "timed out waiting for space for a message of "
              + length
              + " bytes: the peer is not receiving",
          null);
    }
    return lend(place, length);
  }

  /** An ended connection is reported before an invalid length. */
  private @Nullable SendRegion checkAndClaim(int length) {
    checkOpen();
    checkLength(length);
    SendRegion region = claimInPlace(length);
    if (region == null) {
      int place = reserve(length);
      if (place == FULL) {
        return null;
      }
      region = lend(place, length);
    }
    foundRoom(length);
    return region;
  }

  /**
   * Reserves space for a message; waits as long as necessary.
   *
   * @param length the message's length in bytes, already validated
   * @return the message's place
   */
  protected final int reserveOrWait(int length) {
    int place = reserve(length);
    if (place == FULL) {
      place = stall(length, Deadlines.NEVER);
    }
    foundRoom(length);
    return place;
  }

  private int stall(int length, long deadline) {
    stalled();
    return awaitRoom(length, deadline);
  }

  /** Counts a stall, and publishes all staged messages, because they occupy space as well. */
  protected final void stalled() {
    stalls++;
    onRoom(); // a thread that waits may use up the request of the readiness
    flush();
  }

  /**
   * Shows room to a program that uses readiness. To be called when the sender is created.
   *
   * @param readiness the readiness
   */
  public final void showRoom(ReadinessDescriptor readiness) {
    // tryClaim looks once more
    room = new AwaitedRoom(readiness.source(this::requestRoom, () -> false));
  }

  /** Shows that there may be room, or that the connection has ended. By any thread. */
  protected final void onRoom() {
    AwaitedRoom awaited = room;
    if (awaited != null) {
      awaited.raise();
    }
  }

  /** Requests a call of {@link #onRoom} when there is room. */
  protected abstract void requestRoom();

  /**
   * Validates the length of a message.
   *
   * @param length the length in bytes
   */
  protected final void checkLength(long length) {
    if (length < 0) {
      throw new IllegalArgumentException("negative message length: " + length);
    }
    if (length > maxMessageSize) {
      throw new MessageTooLongException(uri(), length, maxMessageSize);
    }
  }

  /**
   * Validates a message of a header and a part of a segment.
   *
   * @param header the header
   * @param payload the segment
   * @param offset the offset of the part, in bytes
   * @param length the length of the part in bytes
   * @return the message's length in bytes
   */
  protected final int totalLength(
      MemorySegment header, MemorySegment payload, long offset, int length) {
    Objects.checkFromIndexSize(offset, (long) length, payload.byteSize());
    checkLength(header.byteSize()); // so that the sum does not overflow
    long total = header.byteSize() + length;
    checkLength(total);
    return (int) total;
  }

  /**
   * Validates the id of a message.
   *
   * @param id the id given by the program
   */
  protected final void checkId(long id) {
    if (id < 1 || id > lastId()) {
      throw new IllegalArgumentException(
          "unknown message id " + id + "; the last id is " + lastId());
    }
  }

  @Override
  public final long sendAsync(SendRegion region, int length) {
    long id = stage(region, length);
    publish();
    return id;
  }

  @Override
  public final long sendAsync(
      MemorySegment header, RegisteredMemory payload, long offset, int length) {
    long id = stage(header, payload, offset, length);
    publish();
    return id;
  }

  @Override
  public final void flush() {
    if (staged() > 0) {
      checkOpen();
      publish();
    }
  }

  /**
   * Flushes, and aborts the claimed regions, unless the connection has ended, or ends meanwhile.
   *
   * @param regions the sender's regions
   * @param hasEnded returns whether the connection has ended
   */
  protected final void giveBack(
      List<? extends AbstractSendRegion> regions, BooleanSupplier hasEnded) {
    try {
      if (!hasEnded.getAsBoolean()) {
        flush();
        regions.stream().filter(LentRegion::isLent).forEach(AbstractSendRegion::abort);
      }
    } catch (FerruleException e) {
      if (!hasEnded.getAsBoolean()) {
        throw e;
      }
    }
  }

  /** {@return how often there was no space} */
  public final long stalls() {
    return stalls;
  }

  /** {@return the number of published messages} */
  public abstract long messages();

  /** {@return the number of bytes of these messages} */
  public abstract long bytes();

  /** {@return how often a thread that waited has fallen asleep} */
  public abstract long sleeps();
}
