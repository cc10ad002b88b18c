// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.ReceiveRegion;
import dev.ferrule.Sender;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The parameters of a round, which the client sends to the server in one message before the round.
 * A round has one kind, so that its loop needs no branch on the kind.
 *
 * @param kind what the server does
 * @param count the number of repetitions; of {@link Kind#ECHO} and {@link Kind#SINK}, {@link
 *     #UNTIL_END} for as many as precede the message that ends the round
 * @param size the length of each message in bytes
 * @param verify whether to check every byte of each message
 * @param pauseNanos how long the server takes for each message, in nanoseconds, to simulate a slow
 *     program
 */
record Round(Kind kind, long count, int size, boolean verify, int pauseNanos) {

  /** What the server does in a round. */
  enum Kind {
    /** Echoes each message. */
    ECHO,

    /** Receives the messages and sends a {@link RoundReply}. */
    SINK,

    /**
     * Creates a file with a cache line and a bare ring, and sends a {@link RoundReply} with the
     * number of the {@link FloorFile}.
     */
    OPEN_FLOOR,

    /** Answers bounces of the cache line. */
    FLOOR,

    /**
     * Exposes memory of the round's size, replaces what was exposed before, and sends an {@link
     * ExposureMessage}.
     */
    EXPOSE,

    /** The same as {@link #EXPOSE}, but the provider allocates the memory. */
    ALLOCATE,

    /** Echoes each message on the bare ring. */
    RING_ECHO,

    /** Receives the messages on the bare ring and sends a {@link RoundReply}. */
    RING_SINK,

    /** Receives the messages of a one-way connection. */
    CALLS_WARMUP,

    /** The same, and times the calls for a {@link OneWayReport}. */
    CALLS
  }

  private static final int MAGIC = 0x444e5246; // "FRND"
  private static final int LENGTH = 28;

  /**
   * The count of a round that the client ends, by the clock: by a message of {@link #endLength}
   * bytes. An echo round echoes that message too; a sink round does not count it.
   */
  static final long UNTIL_END = Long.MAX_VALUE;

  static Round of(Kind kind, long count, int size) {
    return new Round(kind, count, size, false, 0);
  }

  void send(Sender sender) {
    ByteBuffer message = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    message.putInt(MAGIC).putInt(kind.ordinal()).putLong(count).putInt(size);
    message.putInt(verify ? 1 : 0).putInt(pauseNanos);
    sender.send(MemorySegment.ofArray(message.array()));
  }

  /** Returns the length of the message that ends this round, or -1 if the count ends it. */
  int endLength() {
    return count == UNTIL_END ? endLength(size) : -1;
  }

  /** Sends the message that ends a round of messages of the given length. */
  static void sendEnd(Sender sender, int size) {
    sender.send(MemorySegment.ofArray(new byte[endLength(size)]));
  }

  private static int endLength(int size) {
    return size == 1 ? 2 : 1;
  }

  static Round read(ReceiveRegion region) {
    MemorySegment segment = region.segment();
    if (segment.byteSize() != LENGTH) {
      throw new RoundRefusedException("protocol violation: the client sent no round");
    }
    ByteBuffer message =
        ByteBuffer.wrap(segment.toArray(ValueLayout.JAVA_BYTE)).order(ByteOrder.LITTLE_ENDIAN);
    if (message.getInt() != MAGIC) {
      throw new RoundRefusedException("protocol violation: the client sent no round");
    }
    int kind = message.getInt();
    long count = message.getLong();
    int size = message.getInt();
    boolean verify = message.getInt() != 0;
    int pause = message.getInt();
    if (kind < 0 || kind >= Kind.values().length || count < 0 || size < 0 || pause < 0) {
      throw new RoundRefusedException("protocol violation: the client sent an invalid round");
    }
    return new Round(Kind.values()[kind], count, size, verify, pause);
  }
}
