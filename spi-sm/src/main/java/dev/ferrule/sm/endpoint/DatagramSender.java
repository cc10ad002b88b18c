// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import java.nio.file.Path;

/**
 * Sends the datagrams of the handshake. A test puts one of its own in between, which loses, repeats
 * and reorders them.
 */
@FunctionalInterface
interface DatagramSender {

  /**
   * Sends a datagram.
   *
   * @return 0 or -errno
   */
  int send(byte[] datagram, Path to);
}
