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

  /** Sends a datagram, and a file with it if there is one, to a socket; returns 0 or -errno. */
  int send(byte[] datagram, @Nullable SealedFile file, Path to);
}
