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

  /** Returned instead of a message's id if there is no space. */
  protected static final long NO_SPACE = 0;

  private final int maxMessage;
  private volatile long stalls; // written by one thread at a time
  private @Nullable AwaitedRoom room; // of a program that waits for room by readiness

  /**
   * Creates a sender.
   *
   * @param maxMessage the peer's limit, in bytes
   */
  protected AbstractSender(int maxMessage) {
    this.maxMessage = maxMessage;
  }

  /** {@return the URI that identifies the connection in errors} */
  protected abstract URI uri();

  /** Throws if the connection has ended. */
  protected abstract void checkOpen();

  /**
   * Reserves space for a message, without waiting.
   *
   * @param length the message's length in bytes, already validated
   * @param copied the number of these bytes that are not in registered memory
   * @return the message's place, in the provider's own terms; or {@link #FULL}
   */
  protected abstract int reserve(int length, int copied);

  /**
   * Waits until space for a message can be reserved.
   *
   * @param length the message's length in bytes
   * @param copied the number of these bytes that are not in registered memory
   * @param deadline the deadline, by System.nanoTime; or {@link Deadlines#NEVER}
   * @return the message's place; FULL after the deadline
   */
  protected abstract int awaitRoom(int length, int copied, long deadline);

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

  /**
   * Sends a copy of a part of a segment.
   *
   * @param source the segment
   * @param offset the offset of the message in the segment, in bytes
   * @param length the message's length in bytes
   * @param timeout the maximum time to wait for space; null without limit
   * @return the message's id; {@link #NO_SPACE} after the timeout
   */
  protected abstract long sendCopy(
      MemorySegment source, long offset, long length, @Nullable Duration timeout);

  /**
   * Stages a copy of a part of a segment. Otherwise like {@link #sendCopy}.
   *
   * @param source the segment
   * @param offset the offset of the message in the segment, in bytes
   * @param length the message's length in bytes
   * @param timeout the maximum time to wait for space; null without limit
   * @return the message's id; NO_SPACE after the timeout
   */
  protected abstract long stageCopy(
      MemorySegment source, long offset, long length, @Nullable Duration timeout);

  /**
   * Stages a header and bytes in registered memory as one message.
   *
   * @param header the header
   * @param payload the registered memory
   * @param offset the offset of the payload in the memory, in bytes
   * @param length the payload's length in bytes
   * @param timeout the maximum time to wait for space; null without limit
   * @return the message's id; NO_SPACE after the timeout
   */
  protected abstract long stageGather(
      MemorySegment header,
      RegisteredMemory payload,
      long offset,
      int length,
      @Nullable Duration timeout);

  /** Publishes all staged messages. */
  protected abstract void publish();

  /** {@return the id of the message staged last; ids start at 1} */
  protected abstract long lastId();

  @Override
  public final int maxMessage() {
    return maxMessage;
  }

  @Override
  public final SendRegion claim(int length) {
    SendRegion region = checkAndClaim(length);
    return region == null ? lend(await(length, length), length) : region;
  }

  @Override
  public final SendRegion claim(int length, Duration timeout) {
    SendRegion region = claimWithin(length, timeout);
    if (region == null) {
      throw timedOut(length);
    }
    return region;
  }

  @Override
  public final @Nullable SendRegion tryClaim(int length) {
    return claimWithin(length, Duration.ZERO);
  }

  /**
   * Claims a region, and waits for the timeout at most.
   *
   * @param length the message's length in bytes
   * @param timeout the maximum time to wait; null without limit
   * @return the region; null after the timeout
   */
  protected final @Nullable SendRegion claimWithin(int length, @Nullable Duration timeout) {
    SendRegion region = checkAndClaim(length);
    if (region != null) {
      return region;
    }
    int place = await(length, length, timeout);
    return place == FULL ? null : lend(place, length);
  }

  /** Claims after checks, which report an ended connection before an invalid length. */
  private @Nullable SendRegion checkAndClaim(int length) {
    checkOpen();
    checkLength(length);
    SendRegion region = claimInPlace(length);
    if (region == null) {
      int place = reserve(length, length);
      if (place == FULL) {
        return null;
      }
      region = lend(place, length);
    }
    foundRoom(length);
    return region;
  }

  /**
   * Reserves space for a message, and waits for the timeout at most.
   *
   * @param length the message's length in bytes, already validated
   * @param copied the number of these bytes that are not in registered memory
   * @param timeout the maximum time to wait; null without limit
   * @return the message's place; FULL after the timeout
   */
  protected final int reserve(int length, int copied, @Nullable Duration timeout) {
    int place = reserve(length, copied);
    if (place == FULL) {
      return await(length, copied, timeout);
    }
    foundRoom(length);
    return place;
  }

  private int await(int length, int copied, @Nullable Duration timeout) {
    if (timeout == null) {
      return await(length, copied);
    }
    stalls++;
    boolean waits = timeout.isPositive();
    if (waits) {
      onRoom(); // a thread that waits may use up the request of the readiness
    }
    flush(); // what is staged occupies space, and the peer frees only what it has received
    int place = waits ? awaitRoom(length, copied, Deadlines.after(timeout)) : FULL;
    if (place == FULL) {
      return reserveAfterRequest(length, copied);
    }
    foundRoom(length);
    return place;
  }

  /** Waits for space as long as necessary. */
  private int await(int length, int copied) {
    stalls++;
    onRoom(); // a thread that waits may use up the request of the readiness
    flush();
    int place = awaitRoom(length, copied, Deadlines.NEVER);
    foundRoom(length);
    return place;
  }

  /** Requests that the readiness shows room, unless a request is pending, and checks once more. */
  private int reserveAfterRequest(int length, int copied) {
    AwaitedRoom awaited = room;
    if (awaited == null) {
      return FULL;
    }
    awaited.foundNone(length);
    int place = reserve(length, copied);
    if (place != FULL) {
      awaited.found(length);
    }
    return place;
  }

  /**
   * Called when room for a message was found. The readiness then shows no room, unless a longer
   * message waits.
   *
   * @param length the message's length in bytes
   */
  protected final void foundRoom(int length) {
    AwaitedRoom awaited = room;
    if (awaited != null) {
      awaited.found(length);
    }
  }

  /**
   * Shows room to a program that uses readiness. To be called when the sender is created.
   *
   * @param readiness the readiness
   */
  public final void showRoom(ReadinessDescriptor readiness) {
    // tryClaim checks once more
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
      throw new IllegalArgumentException(
          "invalid message length: " + length + " bytes; the minimum is 0");
    }
    if (length > maxMessage) {
      throw new MessageTooLongException(uri(), length, maxMessage);
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
  public final long send(MemorySegment source, long offset, long length) {
    return sendCopy(source, offset, length, null);
  }

  @Override
  public final long send(MemorySegment source, long offset, long length, Duration timeout) {
    return orTimeout(sendCopy(source, offset, length, timeout), length);
  }

  @Override
  public final long trySend(MemorySegment source, long offset, long length) {
    return sendCopy(source, offset, length, Duration.ZERO);
  }

  @Override
  public final long stage(MemorySegment source, long offset, long length) {
    return stageCopy(source, offset, length, null);
  }

  @Override
  public final long stage(MemorySegment source, long offset, long length, Duration timeout) {
    return orTimeout(stageCopy(source, offset, length, timeout), length);
  }

  @Override
  public final long tryStage(MemorySegment source, long offset, long length) {
    return stageCopy(source, offset, length, Duration.ZERO);
  }

  @Override
  public final long sendRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length) {
    return published(stageGather(header, payload, offset, length, null));
  }

  @Override
  public final long sendRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length, Duration timeout) {
    long id = stageGather(header, payload, offset, length, timeout);
    return orTimeout(published(id), header.byteSize() + length);
  }

  @Override
  public final long trySendRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length) {
    return published(stageGather(header, payload, offset, length, Duration.ZERO));
  }

  @Override
  public final long stageRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length) {
    return stageGather(header, payload, offset, length, null);
  }

  @Override
  public final long stageRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length, Duration timeout) {
    long id = stageGather(header, payload, offset, length, timeout);
    return orTimeout(id, header.byteSize() + length);
  }

  @Override
  public final long tryStageRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length) {
    return stageGather(header, payload, offset, length, Duration.ZERO);
  }

  /**
   * Publishes a message that was staged, and those before it.
   *
   * @param id the message's id, or {@link #NO_SPACE} if there was no space
   * @return the same
   */
  protected final long published(long id) {
    if (id != NO_SPACE) {
      publish();
    }
    return id;
  }

  private long orTimeout(long id, long length) {
    if (id == NO_SPACE) {
      throw timedOut(length);
    }
    return id;
  }

  private OperationTimeoutException timedOut(long length) {
    return new OperationTimeoutException(
        uri(),
        "timed out waiting for space for a message of "
            + length
            + " bytes: the peer is not receiving",
        null);
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

  @Override
  public String toString() {
    return "sender of " + uri();
  }
}
