// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.MessageQueue;
import dev.ferrule.rdma.queue.SendQueue;
import java.util.ArrayList;
import java.util.List;

/** Creates objects of {@code sendrecv} on a scripted device. */
final class Fakes {

  private Fakes() {}

  static ReceiveBuffers buffers(ScriptedDevice device, int count) {
    return buffers(device, count, SendQueue.MAX_CHAIN);
  }

  static ReceiveBuffers buffers(ScriptedDevice device, int count, int postedTogether) {
    return new ReceiveBuffers(device.domain(), device.arena(), count, 64, postedTogether);
  }

  /** Receives all waiting messages; returns their buffers. */
  static List<Integer> take(Channel channel) {
    List<Integer> buffers = new ArrayList<>();
    while (channel.messages().hasNext()) {
      buffers.add(MessageQueue.number(channel.messages().take()));
    }
    return buffers;
  }
}
