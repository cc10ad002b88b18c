// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.FerruleException;
import dev.ferrule.Sender;
import dev.ferrule.spi.PlainText;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** A message by which a server refuses a round, sent instead of the reply, with the reason. */
final class Refusal {

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** "FREFUSAL". No reply and no exposure begins with it. */
  private static final long MAGIC = 0x4c41_5355_4645_5246L;

  private static final int MAX_TEXT = 400;

  private Refusal() {}

  /** Sends the reason, if the connection is still open. */
  static void send(Sender sender, RoundRefusedException reason) {
    byte[] text = String.valueOf(reason.getMessage()).getBytes(StandardCharsets.UTF_8);
    int length = Math.min(text.length, MAX_TEXT);
    MemorySegment message = MemorySegment.ofArray(new byte[Long.BYTES + length]);
    message.set(LONG, 0, MAGIC);
    MemorySegment.copy(text, 0, message, ValueLayout.JAVA_BYTE, Long.BYTES, length);
    try {
      sender.send(message);
    } catch (FerruleException e) {
      reason.addSuppressed(e);
    }
  }

  /** Throws the reason if a message is a refusal. */
  static void throwIfRefused(MemorySegment message) {
    if (message.byteSize() >= Long.BYTES && message.get(LONG, 0) == MAGIC) {
      long length = Math.min(message.byteSize() - Long.BYTES, MAX_TEXT);
      throw new ToolException(
          ExitCode.FAILED,
          "the server refused the round: "
              + PlainText.of(
                  new String(
                      message.asSlice(Long.BYTES, length).toArray(ValueLayout.JAVA_BYTE),
                      StandardCharsets.UTF_8)));
    }
  }
}
