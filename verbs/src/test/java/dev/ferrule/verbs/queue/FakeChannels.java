// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import static org.mockito.Mockito.mock;

import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.FakeDevice;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Makes connections of a protocol in which each receive is a message. */
final class FakeChannels {

  private final FakeDevice device;
  private final SendMemory memory;

  FakeChannels(FakeDevice device) {
    this.device = device;
    device.registrations();
    memory = new SendMemory(device.domain(), device.arena, SendQueue.LINE);
  }

  FakeChannel channel(int inbox) {
    return channel(inbox, mock(Link.class));
  }

  FakeChannel channel(int inbox, Link link) {
    return channel(inbox, link, device.queuePair());
  }

  FakeChannel channel(int inbox, Link link, int number) {
    return channel(inbox, link, device.queuePair(number));
  }

  private FakeChannel channel(int inbox, Link link, QueuePair queuePair) {
    return new FakeChannel(
        new Channel.Parts(queuePair, device.completionQueue(), memory, 4, -1, link), inbox);
  }

  /** A connection. */
  static final class FakeChannel extends Channel {

    /** The receives of which nothing came of use. */
    final List<Integer> dropped = new CopyOnWriteArrayList<>();

    private FakeChannel(Parts parts, int inbox) {
      super(parts, new Anything(), inbox, MemorySegment.NULL);
    }

    /** A message comes, and is the only one that this look finds. */
    void bring(int message) {
      deliver(message, message);
      afterPoll();
    }

    @Override
    protected @Nullable String received(CompletionQueue completions, int index) {
      int id = (int) completions.workRequestId(index);
      if (id < 0) {
        throw new IllegalStateException("no such receive");
      }
      deliver(id, completions.length(index));
      return null;
    }

    @Override
    protected void dropped(int receive) {
      dropped.add(receive);
    }

    @Override
    public long offset(int message) {
      return 0;
    }

    @Override
    public void free(int message) {
      // there are no receives to be posted
    }

    @Override
    public void freeForStarvingPeer() {
      // likewise
    }

    @Override
    public boolean isExhausted(int held) {
      return false;
    }

    @Override
    protected void stopReceives() {
      // likewise
    }
  }

  /** A peer to which anything may be sent at any time. */
  private static final class Anything implements SendProtocol {

    @Override
    public boolean tryReserve(int length) {
      return true;
    }

    @Override
    public void unreserve(int length) {
      // nothing was taken
    }

    @Override
    public SendOperation messageOperation() {
      return SendOperation.SEND;
    }

    @Override
    public void prepare(SendChain chain, int index, int reservedLength, int length) {
      // there is no more to say
    }

    @Override
    public boolean isAllBack() {
      return true;
    }

    @Override
    public boolean isReportDue() {
      return false;
    }

    @Override
    public boolean mayReport() {
      return true;
    }

    @Override
    public SendOperation controlOperation() {
      return SendOperation.SEND;
    }

    @Override
    public int prepareReport(SendChain chain, int index, MemorySegment memory, long offset) {
      return 0;
    }

    @Override
    public boolean saysGoodbye() {
      return false;
    }

    @Override
    public int prepareGoodbye(SendChain chain, int index, MemorySegment memory, long offset) {
      return 0;
    }
  }
}
