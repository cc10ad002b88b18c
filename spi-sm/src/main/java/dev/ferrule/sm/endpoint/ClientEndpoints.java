// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The endpoints from which this process connects: one for each directory, shared by all connections
 * to it.
 */
public final class ClientEndpoints {

  private static final Map<Path, Endpoint> BY_DIRECTORY = new HashMap<>();

  private ClientEndpoints() {}

  /**
   * Returns the endpoint of a directory, retained for the caller.
   *
   * @param server an address in the directory
   * @return the endpoint, to be released
   * @throws IOException if it cannot be made
   * @throws dev.ferrule.sm.os.PosixException if its files cannot be made
   */
  public static Endpoint retain(SmAddress server) throws IOException {
    synchronized (BY_DIRECTORY) {
      BY_DIRECTORY.values().removeIf(endpoint -> !endpoint.isOpen());
      @Nullable Endpoint known = BY_DIRECTORY.get(server.base());
      if (known != null && known.retain()) {
        return known;
      }
      Endpoint opened = Endpoint.open(new SmAddress(server.base(), null));
      if (opened == null) {
        throw new IOException("no endpoint to be had in " + server.base());
      }
      BY_DIRECTORY.put(server.base(), opened);
      return opened;
    }
  }
}
