// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.sendrecv.queue.ReceiveBuffers;

/** A region for each receive buffer, of which each is lent out when there is a message in it. */
final class RegionTable {

  private final SendRecvReceiveRegion[] regions;

  RegionTable(ReceiveBuffers buffers) {
    regions = new SendRecvReceiveRegion[buffers.count()];
    for (int i = 0; i < regions.length; i++) {
      regions[i] = new SendRecvReceiveRegion(i, buffers.offset(i));
    }
  }

  SendRecvReceiveRegion region(int buffer) {
    return regions[buffer];
  }
}
