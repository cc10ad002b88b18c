// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Batch;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * Sends messages of one size as fast as they go, and ends the clock when the server says that it
 * has received the last.
 */
final class Throughput {

  /** Few enough that no connection runs dry meanwhile. */
  private static final int MESSAGES_IN_TURN = 16;

  private final BenchClient client;
  private final Sender sender;
  private final MessageContent content;
  private final Flow flow;
  private long lastOfTurn; // the id to wait for next; 0 if there is none

  /**
   * How messages are sent.
   *
   * @param unacked how many may be incomplete at a time; 0 for as many as the connection has room
   *     for
   * @param batch how many are handed to the transport at a time; 1 for each by itself
   * @param verify whether the server is to check every byte
   */
  record Flow(int unacked, int batch, boolean verify) {}

  Throughput(BenchClient client, SegmentAllocator allocator, int size, Flow flow) {
    this.client = client;
    this.sender = client.sender();
    this.content = new MessageContent(allocator, size);
    this.flow = flow;
  }

  /**
   * Sends messages, and waits until they have been received.
   *
   * @param count how many
   * @return the time until the last was received, in nanoseconds
   */
  long round(long count) {
    start(count);
    long start = System.nanoTime();
    send(0, count);
    finish(count);
    return System.nanoTime() - start;
  }

  /** Tells the server what comes. */
  void start(long count) {
    client.start(new Round(Round.Kind.SINK, count, content.size(), flow.verify()));
    lastOfTurn = 0;
  }

  /**
   * Returns how many messages to send before it is another connection's turn: as many as are waited
   * for or handed over together.
   */
  int turn() {
    if (flow.batch() > 1) {
      return batches() * flow.batch();
    }
    return flow.unacked() > 0 ? half() : MESSAGES_IN_TURN;
  }

  /**
   * Sends some of the messages of a round.
   *
   * @param from the number of the first, which is that of the last call's last and one
   * @param to the number after the last; but for the end of the round, whole {@link #turn turns}
   *     further
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

  /** Waits until the server says that it has received the messages of the round. */
  void finish(long count) {
    RoundReply reply = client.awaitReply();
    if (!reply.equals(new RoundReply(true, count, count * content.size(), 0))) {
      throw client.corrupt(
          count
              + " messages were sent, "
              + reply.messages()
              + " received, "
              + reply.wrong()
              + " of them wrong");
    }
  }

  private void sendAll(long from, long to) {
    for (long i = from; i < to; i++) {
      content.number(i);
      sender.send(content.bytes(), 0, content.size());
    }
  }

  /**
   * Looks at the ids after every half of the allowance, so that at most the whole is ever
   * outstanding.
   */
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

  /** How many batches make up half of the allowance; one if there is none, or little. */
  private int batches() {
    return Math.max(1, half() / flow.batch());
  }

  private int half() {
    return Math.max(1, flow.unacked() / 2);
  }

  /** Waits for the messages before the last ones, or for these too. */
  private void awaitEarlier(long last, boolean lastMayStayOut) {
    if (!lastMayStayOut) {
      sender.await(last);
    } else if (lastOfTurn != 0) {
      sender.await(lastOfTurn);
    }
    lastOfTurn = last;
  }

  private void sendBatches(long from, long to) {
    Batch batch = sender.batch();
    int size = content.size();
    MemorySegment bytes = content.bytes();
    int inTurn = batches() * flow.batch();
    for (long i = from; i < to; ) {
      long id = 0;
      for (long turn = Math.min(i + inTurn, to); i < turn; ) {
        for (long end = Math.min(i + flow.batch(), turn); i < end; i++) {
          SendRegion region = sender.claim(size);
          content.number(i);
          MemorySegment.copy(bytes, 0, region.buffer(), region.offset(), size);
          id = batch.add(region);
        }
        batch.flush();
      }
      if (flow.unacked() > 0) {
        awaitEarlier(id, 2L * inTurn <= flow.unacked());
      }
    }
  }
}
