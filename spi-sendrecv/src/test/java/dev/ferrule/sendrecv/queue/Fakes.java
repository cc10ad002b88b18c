// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.verbs.fake.ScriptedDevice;

/** What sendrecv's tests make on a device that does what it is told. */
final class Fakes {

  private Fakes() {}

  static ReceiveBuffers buffers(ScriptedDevice device, int count) {
    return new ReceiveBuffers(device.domain(), device.arena(), count, 64);
  }
}
