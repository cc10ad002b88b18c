// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.ReceiveRegion;
import dev.ferrule.Sender;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The server's report of a round, sent to the client in one message.
 *
 * @param done whether the server has done what the round requested
 * @param messages the number of messages received; for {@link Round.Kind#OPEN_FLOOR} the number of
 *     the {@link FloorFile}
 * @param bytes the number of bytes received
 * @param wrong the number of corrupt messages
 */
record RoundReply(boolean done, long messages, long bytes, long wrong) {

  private static final int LENGTH = 4 * Long.BYTES;

  void send(Sender sender) {
    ByteBuffer message = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    message.putLong(done ? 1 : 0).putLong(messages).putLong(bytes).putLong(wrong);
    sender.send(MemorySegment.ofArray(message.array()));
  }

  static RoundReply read(ReceiveRegion region) {
    MemorySegment segment = region.segment();
    Refusal.throwIfRefused(segment);
    if (segment.byteSize() != LENGTH) {
      throw new ToolException(
          ExitCode.CONNECTION_LOST, "protocol violation: the server sent no round reply");
    }
    ByteBuffer message =
        ByteBuffer.wrap(segment.toArray(ValueLayout.JAVA_BYTE)).order(ByteOrder.LITTLE_ENDIAN);
    RoundReply reply =
        new RoundReply(
            message.getLong() != 0, message.getLong(), message.getLong(), message.getLong());
    if (reply.bytes < 0 || reply.wrong < 0 || reply.wrong > reply.messages) {
      throw new ToolException(
          ExitCode.CONNECTION_LOST, "protocol violation: the server sent an invalid round reply");
    }
    return reply;
  }
}
