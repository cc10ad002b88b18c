// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Sender;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * Sends messages of one size as fast as possible. The clock stops when the server has confirmed the
 * last one.
 */
final class Throughput {

  /** Few enough that the thread's other connections do not become idle meanwhile. */
  private static final int MESSAGES_IN_TURN = 16;

  private final BenchClient client;
  private final Sender sender;
  private final MessageContent content;
  private final Flow flow;
  private long lastOfTurn; // the id to wait for next; 0 if there is none

  /**
   * How messages are sent.
   *
   * @param unacked the maximum number of incomplete messages; 0 if only the available buffers limit
   *     it
   * @param batch the number of messages per batch; 1 for single sends
   * @param verify whether the server checks every byte
   * @param pauseNanos how long the server takes for each message, in nanoseconds
   */
  record Flow(int unacked, int batch, boolean verify, int pauseNanos) {
    Flow(int unacked, int batch, boolean verify) {
      this(unacked, batch, verify, 0);
    }
  }

  Throughput(BenchClient client, SegmentAllocator allocator, int size, Flow flow) {
    this.client = client;
    this.sender = client.sender();
    this.content = new MessageContent(allocator, size);
    this.flow = flow;
  }

  /** Sends messages. Returns the time until the server has confirmed the last, in nanoseconds. */
  long round(long count) {
    start(count);
    long start = System.nanoTime();
    send(0, count);
    finish(count);
    return System.nanoTime() - start;
  }

  /** Announces the round to the server. */
  void start(long count) {
    client.start(
        new Round(Round.Kind.SINK, count, content.size(), flow.verify(), flow.pauseNanos()));
    lastOfTurn = 0;
  }

  /** Ends a round that was started with {@link Round#UNTIL_END}. */
  void end() {
    Round.sendEnd(sender, content.size());
  }

  /** Returns the number of messages that {@link #send} needs at once, or a multiple of it. */
  int messagesAtOnce() {
    return flow.batch() > 1 || flow.unacked() > 0 ? messagesPerTurn() : 1;
  }

  /**
   * Returns the number of messages to send before the thread continues with its next connection: as
   * many as are awaited or posted together.
   */
  int messagesPerTurn() {
    if (flow.batch() > 1) {
      return batches() * flow.batch();
    }
    return flow.unacked() > 0 ? half() : MESSAGES_IN_TURN;
  }

  /**
   * Sends the messages with the numbers from {@code from} to {@code to - 1}: a multiple of {@link
   * #messagesPerTurn}, except at the end of the round.
   */
  void send(long from, long to) {
    if (flow.batch() > 1) {
      sendBatches(from, to);
    } else if (flow.unacked() > 0) {
      sendUnacked(from, to);
    } else {
      sendAll(from, to);
    }
  }

  /** Waits for the server's confirmation that it has received the messages of the round. */
  void finish(long count) {
    RoundReply reply = client.awaitReply();
    if (!reply.equals(new RoundReply(true, count, count * content.size(), 0))) {
      throw client.corrupt(
          "%s messages were sent, %s received, %s of them corrupt"
              .formatted(count, reply.messages(), reply.wrong()));
    }
  }

  private void sendAll(long from, long to) {
    for (long i = from; i < to; i++) {
      content.number(i);
      sender.send(content.bytes(), 0, content.size());
    }
  }

  /** Awaits an earlier id after each half of the limit, so that the limit is never exceeded. */
  private void sendUnacked(long from, long to) {
    int half = half();
    for (long i = from; i < to; ) {
      long id = 0;
      for (long end = Math.min(i + half, to); i < end; i++) {
        content.number(i);
        id = sender.send(content.bytes(), 0, content.size());
      }
      awaitEarlier(id, 2 * half <= flow.unacked());
    }
  }

  /** Returns the number of batches in half of the limit; at least one. */
  private int batches() {
    return Math.max(1, half() / flow.batch());
  }

  private int half() {
    return Math.max(1, flow.unacked() / 2);
  }

  /**
   * Waits for the messages of the previous turn or, if the last ones must be complete too, for all.
   */
  private void awaitEarlier(long last, boolean lastMayBeIncomplete) {
    if (!lastMayBeIncomplete) {
      sender.await(last);
    } else if (lastOfTurn != 0) {
      sender.await(lastOfTurn);
    }
    lastOfTurn = last;
  }

  private void sendBatches(long from, long to) {
    int size = content.size();
    MemorySegment bytes = content.bytes();
    int inTurn = batches() * flow.batch();
    for (long i = from; i < to; ) {
      long id = 0;
      for (long turn = Math.min(i + inTurn, to); i < turn; ) {
        for (long end = Math.min(i + flow.batch(), turn); i < end; i++) {
          content.number(i);
          id = sender.stage(bytes, 0, size);
        }
        sender.flush();
      }
      if (flow.unacked() > 0) {
        awaitEarlier(id, 2L * inTurn <= flow.unacked());
      }
    }
  }
}
