// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.posix.SealedFile;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Sends the datagrams of the handshake. Tests substitute an implementation that loses, repeats and
 * reorders them.
 */
@FunctionalInterface
interface DatagramSender {

  /**
   * Sends a datagram.
   *
   * @param datagram its content
   * @param file a file passed with it, or null
   * @param to the path of the receiving socket
   * @return 0 or -errno
   */
  int send(byte[] datagram, @Nullable SealedFile file, Path to);
}
