// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.ReceiveRegion;
import dev.ferrule.Sender;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The server's report of a round, sent to the client in one message.
 *
 * @param done whether the server could do its part
 * @param messages the number of messages received; for a floor the number of its {@link FloorFile}
 * @param bytes the number of bytes received
 * @param wrong the number of corrupt messages
 */
record RoundReply(boolean done, long messages, long bytes, long wrong) {

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final long DONE_OFFSET = 0;
  private static final long MESSAGES_OFFSET = 8;
  private static final long BYTES_OFFSET = 16;
  private static final long WRONG_OFFSET = 24;
  private static final int LENGTH = 32;

  void send(Sender sender) {
    MemorySegment message = MemorySegment.ofArray(new byte[LENGTH]);
    message.set(LONG, DONE_OFFSET, done ? 1 : 0);
    message.set(LONG, MESSAGES_OFFSET, messages);
    message.set(LONG, BYTES_OFFSET, bytes);
    message.set(LONG, WRONG_OFFSET, wrong);
    sender.send(message);
  }

  static RoundReply read(ReceiveRegion region) {
    MemorySegment message = region.segment();
    Refusal.throwIfRefused(message);
    if (message.byteSize() != LENGTH) {
      throw new ToolException(
          ExitCode.CONNECTION_LOST, "protocol violation: the server sent no round reply");
    }
    return new RoundReply(
        message.get(LONG, DONE_OFFSET) != 0,
        message.get(LONG, MESSAGES_OFFSET),
        message.get(LONG, BYTES_OFFSET),
        message.get(LONG, WRONG_OFFSET));
  }
}
