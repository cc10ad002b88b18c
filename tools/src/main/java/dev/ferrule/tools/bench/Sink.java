// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.MessageHandler;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import java.lang.foreign.MemorySegment;

/** Takes messages as they come and checks both ends of each, or all of it. */
final class Sink implements MessageHandler {

  private static final int POLL_LIMIT = 256;

  private final MessageContent expected;
  private final boolean verify;
  private long messages;
  private long bytes;
  private long wrong;

  Sink(MessageContent expected, boolean verify) {
    this.expected = expected;
    this.verify = verify;
  }

  /** Takes messages, spinning when there are none. */
  RoundReply spin(Receiver receiver, long count) {
    Patience patience = new Patience(Patience.OF_ROUND);
    while (messages < count) {
      if (receiver.poll(this, (int) Math.min(POLL_LIMIT, count - messages)) > 0) {
        patience.messageCame();
      } else {
        patience.lookedInVain();
        // Looking again at once would take the line away from the sender while it writes to it.
        Thread.onSpinWait();
      }
    }
    return reply();
  }

  /** Takes messages, waiting in the connection's own way when there are none. */
  RoundReply await(Receiver receiver, long count) {
    while (messages < count) {
      if (receiver.poll(this, (int) Math.min(POLL_LIMIT, count - messages)) == 0) {
        ReceiveRegion message = receiver.receive();
        onMessage(message.buffer(), message.offset(), message.length());
        receiver.free(message);
      }
    }
    return reply();
  }

  /** Returns how many messages have come. */
  long messages() {
    return messages;
  }

  /** Returns what to tell the client about those that have come. */
  RoundReply reply() {
    return new RoundReply(true, messages, bytes, wrong);
  }

  @Override
  public void onMessage(MemorySegment buffer, long offset, int length) {
    if (!expected.matches(buffer, offset, length, messages)
        || verify && !expected.matchesBetween(buffer, offset)) {
      wrong++;
    }
    messages++;
    bytes += length;
  }
}
