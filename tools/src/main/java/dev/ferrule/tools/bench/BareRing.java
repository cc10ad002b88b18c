// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.posix.RawMemory;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;

/**
 * A bare one-way ring of records for each direction, in a file that client and server map: the
 * floor of every queue over shared memory. A cache line that both sides write, as in {@link
 * CacheLine}, needs one transfer between processors for each message. A one-way queue needs two,
 * because the writer first takes the line from the reader that spins on it.
 *
 * <p>A record is a header of 8 bytes and a payload, rounded up to 8. One release store of the
 * header publishes it. The receiver acknowledges each eighth of the ring. In a stream of short
 * messages it clears that eighth first, as {@code sm} does. The ring has no wake-up and no close,
 * and validates only what protects the process from a crash.
 *
 * <p>Each round begins at the start of the rings. A header contains the message's number, which
 * continues from round to round. A header is negative, and no word of a payload is. So neither a
 * record of an earlier round nor a payload can be mistaken for the next header.
 *
 * <p>Memory is accessed without bounds checks. Addresses depend only on this side's state, never on
 * what the peer has written.
 */
final class BareRing implements AutoCloseable {

  /** The maximum payload. The ring has room for several of them. */
  static final int MAX_PAYLOAD = 64 << 10;

  /** Clearing longer payloads would make a stream slower. */
  private static final int MAX_CLEARED = 4096;

  /** Offset of the rings in the file: after the page of the {@link CacheLine}. */
  static final long FILE_OFFSET = 4096;

  /** The length of each ring, which holds contiguous records: the default of {@code sm}. */
  static final int RING_BYTES = 1 << 20;

  private static final long ACKNOWLEDGED_BY_SERVER = 0;
  private static final long ACKNOWLEDGED_BY_CLIENT = 1024;
  private static final long TO_SERVER = 4096;
  private static final long TO_CLIENT = TO_SERVER + RING_BYTES;

  /** The length of both rings and of their acknowledgment counters. */
  static final long BYTES = TO_CLIENT + RING_BYTES;

  private static final int CACHE_LINE_BYTES = 64;
  private static final int HEADER_BYTES = Long.BYTES;
  private static final int LENGTH_BITS = 20;
  private static final int ACKNOWLEDGMENTS_PER_LAP = 8;

  /** Up to this length a loop of single accesses is faster than a bulk copy. */
  private static final int SMALL = 128;

  private static final MemorySegment ALL = RawMemory.ALL;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final VarHandle WORD = LONG.varHandle();

  /**
   * The length of a pause after an empty poll of a stream: some microseconds. Polling again at once
   * would take each cache line from the sender while it fills the line.
   */
  private static final int PAUSES = 256;

  /** Empty polls before a check of the peer: some milliseconds. */
  private static final int POLLS_BEFORE_CHECK = 1 << 22;

  /** The same, with pauses between the polls. */
  private static final int PAUSED_POLLS_BEFORE_CHECK = 1 << 10;

  /** Addresses have at most 56 bits; the lowest three bits of a word's address are 0. */
  private static final long WORD_ADDRESS = (1L << 56) - Long.BYTES;

  private static final long FOREVER = Long.MAX_VALUE;

  private final Arena arena = Arena.ofShared();
  private final Runnable peerCheck;
  private final long peerLimitNanos;
  private final long source; // the payload to send
  private final long out;
  private final long in;
  private final long acknowledgedByPeer;
  private final long acknowledgment;
  private volatile boolean closed;
  private long sent; // guarded by this: records in all rounds
  private long received; // guarded by this

  private BareRing(Path file, boolean server, long peerLimitNanos, Runnable peerCheck)
      throws IOException {
    this.peerCheck = peerCheck;
    this.peerLimitNanos = peerLimitNanos;
    try {
      long base = FloorFile.map(file, FILE_OFFSET, BYTES, arena).address();
      out = base + (server ? TO_CLIENT : TO_SERVER);
      in = base + (server ? TO_SERVER : TO_CLIENT);
      acknowledgedByPeer = base + (server ? ACKNOWLEDGED_BY_CLIENT : ACKNOWLEDGED_BY_SERVER);
      acknowledgment = base + (server ? ACKNOWLEDGED_BY_SERVER : ACKNOWLEDGED_BY_CLIENT);
      source = arena.allocate(MAX_PAYLOAD, CACHE_LINE_BYTES).address();
    } catch (IOException | RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  /**
   * Maps the client's side, which measures. The check is called at intervals during a long wait,
   * and throws if the connection has ended.
   */
  static BareRing ofClient(Path file, Runnable peerCheck) throws IOException {
    return new BareRing(file, false, FOREVER, peerCheck);
  }

  /**
   * Maps the server's side, which echoes and receives. The limit is the minimum time for which it
   * waits for a client whose connection is open.
   */
  static BareRing ofServer(Path file, long limitNanos, Runnable peerCheck) throws IOException {
    return new BareRing(file, true, limitNanos, peerCheck);
  }

  /** Returns how many records with a payload of that size fit in the ring. */
  static int capacity(int size) {
    return RING_BYTES / stride(size);
  }

  private static int stride(int size) {
    return HEADER_BYTES + payloadBytes(size);
  }

  /** Returns the length of a payload in whole words. */
  private static int payloadBytes(int size) {
    return (size + Long.BYTES - 1) & -Long.BYTES;
  }

  private static long header(long number, int size) {
    return Long.MIN_VALUE | number << LENGTH_BITS | size;
  }

  /**
   * Sends messages one at a time, and waits for the echo of each; the peer must {@link #echo} one
   * message more than the given number. The first message starts the clock and is not timed.
   */
  synchronized void bounce(long[] periods, int count, int size) {
    checkUsable(size);
    int payload = payloadBytes(size);
    int stride = stride(size);
    long lap = (long) capacity(size) * stride;
    long step = acknowledgedAtOnce(size);
    long acknowledged = received;
    long position = 0;
    long before = 0;
    for (int i = -1; i < count; i++) {
      // Each message so far was echoed, so there is room.
      number(source, payload, sent);
      copy(source, out + position + HEADER_BYTES, payload);
      WORD.setRelease(ALL, out + position, header(sent++, size));
      // As in PingPong, the clock is read while the message is in flight, so it adds no time.
      long now = System.nanoTime();
      if (i >= 0) {
        periods[i] = now - before;
      }
      before = now;
      long record = in + position;
      awaitRecord(record, header(received, size), 0, POLLS_BEFORE_CHECK);
      if (!hasNumber(record + HEADER_BYTES, payload, sent - 1)) {
        throw new ToolException(
            ExitCode.CONNECTION_LOST, "an echo through the bare ring differs from what was sent");
      }
      received++;
      if (received - acknowledged >= step) {
        acknowledged = received;
        WORD.setRelease(ALL, acknowledgment, acknowledged);
      }
      position = position + stride == lap ? 0 : position + stride;
    }
  }

  /** Echoes messages. Spins for each, and therefore throws if the client stops sending. */
  synchronized void echo(long count, int size) {
    checkUsable(size);
    int payload = payloadBytes(size);
    int stride = stride(size);
    int capacity = capacity(size);
    long lap = (long) capacity * stride;
    long step = acknowledgedAtOnce(size);
    long acknowledged = received;
    long taken = sent; // by the client
    long position = 0;
    for (long i = 0; i < count; i++) {
      awaitRecord(in + position, header(received++, size), 0, POLLS_BEFORE_CHECK);
      if (sent - taken >= capacity) {
        taken = awaitAcknowledged(sent - capacity + 1);
      }
      copy(in + position + HEADER_BYTES, out + position + HEADER_BYTES, payload);
      if (received - acknowledged >= step) {
        acknowledged = received;
        WORD.setRelease(ALL, acknowledgment, acknowledged);
      }
      WORD.setRelease(ALL, out + position, header(sent++, size));
      position = position + stride == lap ? 0 : position + stride;
    }
  }

  /**
   * Sends messages one after another; the peer must {@link #take} the same number. Returns the
   * nanoseconds until the peer has acknowledged the last one.
   */
  synchronized long stream(long count, int size) {
    checkUsable(size);
    int payload = payloadBytes(size);
    int stride = stride(size);
    int capacity = capacity(size);
    long from = source;
    long begin = out;
    long end = begin + (long) capacity * stride;
    long record = begin;
    long number = sent;
    long last = number + count;
    long taken = number;
    long start = System.nanoTime();
    while (number != last) {
      if (number - taken >= capacity) {
        taken = awaitAcknowledged(number - capacity + 1);
      }
      number(from, payload, number);
      copy(from, record + HEADER_BYTES, payload);
      WORD.setRelease(ALL, word(record), header(number, size));
      number++;
      record = record + stride == end ? begin : record + stride;
    }
    awaitAcknowledged(last);
    long nanos = System.nanoTime() - start;
    sent = last;
    return nanos;
  }

  /**
   * Receives messages, and returns how many have a wrong number at either end of their payload.
   * Spins, and therefore throws if the client stops sending.
   */
  synchronized long take(long count, int size) {
    checkUsable(size);
    int payload = payloadBytes(size);
    int stride = stride(size);
    long begin = in;
    long end = begin + (long) capacity(size) * stride;
    long step = acknowledgedAtOnce(size);
    long record = begin;
    long cleared = begin;
    long number = received;
    long last = number + count;
    long acknowledged = number;
    long wrong = 0;
    while (number != last) {
      awaitRecord(record, header(number, size), PAUSES, PAUSED_POLLS_BEFORE_CHECK);
      if (!hasNumber(record + HEADER_BYTES, payload, number)) {
        wrong++;
      }
      number++;
      record += stride;
      if (number - acknowledged >= step || record == end) {
        if (size <= MAX_CLEARED) {
          RawMemory.clear(cleared, record - cleared);
        }
        record = record == end ? begin : record;
        cleared = record;
        acknowledged = number;
        WORD.setRelease(ALL, acknowledgment, acknowledged);
      }
    }
    WORD.setRelease(ALL, acknowledgment, last);
    received = last;
    return wrong;
  }

  private static long acknowledgedAtOnce(int size) {
    return Math.max(1, capacity(size) / ACKNOWLEDGMENTS_PER_LAP);
  }

  /** Writes a message's number to both ends of its payload. */
  private static void number(long address, int payload, long number) {
    if (payload > 0) {
      ALL.set(LONG, word(address), number);
      ALL.set(LONG, word(address + payload - Long.BYTES), number);
    }
  }

  private static boolean hasNumber(long address, int payload, long number) {
    return payload == 0
        || ALL.get(LONG, word(address)) == number
            && ALL.get(LONG, word(address + payload - Long.BYTES)) == number;
  }

  /**
   * Returns the given address of a word. The mask does not change it, but shows its range and
   * alignment to the JIT compiler, which then omits the checks of both.
   */
  private static long word(long address) {
    return address & WORD_ADDRESS;
  }

  private static void copy(long from, long to, int bytes) {
    if (bytes > SMALL) {
      MemorySegment.copy(ALL, from, ALL, to, bytes);
      return;
    }
    for (int i = 0; i < bytes; i += Long.BYTES) {
      ALL.set(LONG, word(to + i), ALL.get(LONG, word(from + i)));
    }
  }

  /**
   * Spins until a record has its header. The acquire load pairs with the release store that
   * publishes it.
   */
  private void awaitRecord(long record, long header, int pauses, int pollsBeforeCheck) {
    if ((long) WORD.getAcquire(ALL, word(record)) != header) {
      spinForRecord(record, header, pauses, pollsBeforeCheck);
    }
  }

  private void spinForRecord(long record, long header, int pauses, int pollsBeforeCheck) {
    int polls = 0;
    long end = 0;
    do {
      for (int i = 0; i < pauses; i++) {
        Thread.onSpinWait();
      }
      if (++polls == pollsBeforeCheck) {
        polls = 0;
        end = check(end);
      }
    } while ((long) WORD.getAcquire(ALL, word(record)) != header);
  }

  /** Spins until the peer has acknowledged a number of messages; returns its current count. */
  private long awaitAcknowledged(long number) {
    int polls = 0;
    long end = 0;
    long acknowledged = (long) WORD.getAcquire(ALL, acknowledgedByPeer);
    while (acknowledged < number) {
      Thread.onSpinWait();
      if (++polls == POLLS_BEFORE_CHECK) {
        polls = 0;
        end = check(end);
      }
      acknowledged = (long) WORD.getAcquire(ALL, acknowledgedByPeer);
    }
    return acknowledged;
  }

  /**
   * Throws if the wait must end. Otherwise returns the deadline of the wait; the argument is the
   * previous one, or 0 in the first check.
   */
  private long check(long end) {
    if (closed) {
      throw new IllegalStateException("the bare ring is closed");
    }
    peerCheck.run();
    if (peerLimitNanos == FOREVER) {
      return end;
    }
    long now = System.nanoTime();
    if (end == 0) {
      return now + peerLimitNanos;
    }
    if (now - end >= 0) {
      throw new ToolException(
          ExitCode.CONNECTION_LOST, "timed out: the client stopped using the bare ring");
    }
    return end;
  }

  private void checkUsable(int size) {
    if (closed) {
      throw new IllegalStateException("the bare ring is closed");
    }
    if (size < 0 || size > MAX_PAYLOAD) {
      throw new IllegalArgumentException(
          size + " bytes do not fit in the bare ring; the maximum is " + MAX_PAYLOAD);
    }
  }

  /** Ends the waits of other threads with an exception, and then unmaps the memory. */
  @Override
  public void close() {
    closed = true;
    synchronized (this) {
      if (arena.scope().isAlive()) {
        arena.close();
      }
    }
  }
}
