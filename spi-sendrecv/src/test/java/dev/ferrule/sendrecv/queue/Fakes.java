// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.verbs.fake.ScriptedDevice;
import dev.ferrule.verbs.queue.Arrivals;
import java.util.ArrayList;
import java.util.List;

/** What sendrecv's tests make on a device that does what it is told. */
final class Fakes {

  private Fakes() {}

  static ReceiveBuffers buffers(ScriptedDevice device, int count) {
    return new ReceiveBuffers(device.domain(), device.arena(), count, 64);
  }

  /** Takes all messages that wait; returns their buffers. */
  static List<Integer> take(SendRecvChannel channel) {
    List<Integer> buffers = new ArrayList<>();
    Arrivals arrivals = channel.arrivals();
    while (arrivals.hasNext()) {
      buffers.add(arrivals.number());
      arrivals.advance();
    }
    return buffers;
  }
}
