// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.idle;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.magicring.MagicRingProvider;
import dev.ferrule.sendrecv.SendRecvProvider;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.VerbsLibrary;
import java.net.URI;

/** Creates connections of the production classes over an idle device. */
final class IdleConnection {

  private static final int CREDITS = 64; // the default of sendrecv
  private static final int WINDOW = 256; // the default of magicring

  private IdleConnection() {}

  /**
   * Connects, with all options at their defaults, except that no thread probes the peer.
   *
   * @param scheme the provider
   * @param burst the number of messages that each poll finds; 0 for none
   * @param length the length of these messages
   */
  static Connection open(String scheme, int burst, int length) {
    boolean ring = scheme.equals("magicring");
    IdleDeviceLibrary device = new IdleDeviceLibrary();
    VerbsLibrary library =
        VerbsLibrary.of(new IdleVerbsCalls(device), new AcceptingManager(device).calls());
    ConnectionProvider provider =
        ring ? new MagicRingProvider(library) : new SendRecvProvider(library);
    device.setPeer(ring ? WINDOW : CREDITS, burst, length, ring);
    return provider.connect(
        URI.create(scheme + "://127.0.0.1:7?peerTimeout=0"), ConnectionOptions.defaults());
  }
}
