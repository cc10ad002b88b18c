// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.verbs.CompletionQueue;

/** Creates queues for tests of other packages. */
public final class TestQueues {

  private static final int UNACKED = 4;

  private TestQueues() {}

  /** Returns a protocol without flow control and without a goodbye. */
  public static SendProtocol protocol() {
    FakeProtocol protocol = new FakeProtocol(FakeProtocol.UNLIMITED);
    protocol.saysGoodbye = false;
    return protocol;
  }

  /** Returns a channel without messages. */
  public static Channel channel() {
    return FakeChannel.any();
  }

  /** Returns a channel with one message. */
  public static Channel channelWithMessage() {
    FakeChannel channel = FakeChannel.any();
    channel.bring(1);
    return channel;
  }

  /** Returns a send queue for a few short messages. */
  public static SendQueue sendQueue(
      ScriptedDevice device, CompletionQueue completions, QueueCallbacks callbacks) {
    return sendQueue(device, completions, callbacks, UNACKED);
  }

  /** Returns a send queue for short messages; a quarter of them may be unsignaled. */
  public static SendQueue sendQueue(
      ScriptedDevice device, CompletionQueue completions, QueueCallbacks callbacks, int unacked) {
    return new SendQueue(
        new Channel.Parts(
            device.queuePair(77),
            completions,
            device.sendMemory((long) unacked * SendQueue.LINE),
            unacked,
            -1,
            callbacks),
        new FakeProtocol(1000));
  }
}
