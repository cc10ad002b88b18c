// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.MessageHandler;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import java.lang.foreign.MemorySegment;

/** Receives messages, and checks both ends or all bytes of each. */
final class Sink implements MessageHandler {

  private static final int POLL_LIMIT = 256;

  private final MessageContent expected;
  private final boolean verify;
  private final int pauseNanos;
  private long count; // lowered by the message that ends the round
  private final int endLength;
  private long messages;
  private long bytes;
  private long wrong;

  Sink(MessageContent expected, Round round) {
    this.expected = expected;
    this.verify = round.verify();
    this.pauseNanos = round.pauseNanos();
    count = round.count();
    endLength = round.endLength();
  }

  /** Receives messages. Spins while there are none, or waits by the connection's wait strategy. */
  RoundReply run(Receiver receiver, boolean spin) {
    Patience patience = new Patience(Patience.OF_ROUND);
    while (messages < count) {
      int polled = receiver.poll(this, (int) Math.min(POLL_LIMIT, count - messages));
      if (polled > 0) {
        patience.onMessage();
      } else if (spin) {
        patience.onEmptyPoll();
      } else {
        ReceiveRegion message = receiver.receive();
        onMessage(message.buffer(), message.offset(), message.length());
        receiver.free(message);
      }
      if (spin) {
        receiver.idle();
      }
    }
    if (messages > count) { // a poll may return more than the message that ends the round
      throw new RoundRefusedException(
          "protocol violation: the client sent a message after the end of the round");
    }
    return reply();
  }

  /** Returns whether all messages of the round have been received. */
  boolean hasEnded() {
    return messages >= count;
  }

  /** Returns the reply about the messages received. */
  RoundReply reply() {
    return new RoundReply(true, messages, bytes, wrong);
  }

  @Override
  public void onMessage(MemorySegment buffer, long offset, int length) {
    if (!expected.matches(buffer, offset, length, messages)
        || verify && !expected.matchesBetween(buffer, offset)) {
      if (length == endLength) {
        count = messages;
        return;
      }
      wrong++;
    }
    messages++;
    bytes += length;
    if (pauseNanos > 0) {
      pause();
    }
  }

  private void pause() {
    long start = System.nanoTime();
    while (System.nanoTime() - start < pauseNanos) {
      Thread.onSpinWait();
    }
  }
}
