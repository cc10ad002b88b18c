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

  private final BenchClient client;
  private final Sender sender;
  private final MessageContent content;
  private final Flow flow;

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
   * Sends messages.
   *
   * @param count how many
   * @return the time until the last was received, in nanoseconds
   */
  long round(long count) {
    client.start(new Round(Round.Kind.SINK, count, content.size(), flow.verify(), ""));
    long start = System.nanoTime();
    if (flow.batch() > 1) {
      sendBatches(count);
    } else if (flow.unacked() > 0) {
      sendUnacked(count);
    } else {
      sendAll(count);
    }
    RoundReply reply = client.awaitReply();
    long nanos = System.nanoTime() - start;
    if (!reply.equals(new RoundReply(true, count, count * content.size(), 0))) {
      throw client.corrupt(
          count
              + " messages were sent, "
              + reply.messages()
              + " received, "
              + reply.wrong()
              + " of them wrong");
    }
    return nanos;
  }

  private void sendAll(long count) {
    for (long i = 0; i < count; i++) {
      content.number(i);
      sender.send(content.bytes(), 0, content.size());
    }
  }

  /**
   * Looks at the ids after every half of the allowance, so that at most the whole is ever
   * outstanding.
   */
  private void sendUnacked(long count) {
    int half = Math.max(1, flow.unacked() / 2);
    long lastOfHalf = 0;
    for (long i = 0; i < count; ) {
      long id = 0;
      for (long end = Math.min(i + half, count); i < end; i++) {
        content.number(i);
        id = sender.send(content.bytes(), 0, content.size());
      }
      lastOfHalf = awaitEarlier(lastOfHalf, id, 2 * half <= flow.unacked());
    }
  }

  /**
   * Waits for the messages before the last ones, or for these too; returns the id to wait for next
   * time.
   */
  private long awaitEarlier(long earlier, long last, boolean lastMayStayOut) {
    if (!lastMayStayOut) {
      sender.await(last);
    } else if (earlier != 0) {
      sender.await(earlier);
    }
    return last;
  }

  private void sendBatches(long count) {
    Batch batch = sender.batch();
    int size = content.size();
    MemorySegment bytes = content.bytes();
    long lastOfBatch = 0;
    for (long i = 0; i < count; ) {
      long id = 0;
      for (long end = Math.min(i + flow.batch(), count); i < end; i++) {
        SendRegion region = sender.claim(size);
        content.number(i);
        MemorySegment.copy(bytes, 0, region.buffer(), region.offset(), size);
        id = batch.add(region);
      }
      batch.flush();
      if (flow.unacked() > 0) {
        lastOfBatch = awaitEarlier(lastOfBatch, id, 2L * flow.batch() <= flow.unacked());
      }
    }
  }
}
