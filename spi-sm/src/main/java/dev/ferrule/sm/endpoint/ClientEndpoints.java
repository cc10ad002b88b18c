// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.sm.os.Access;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The endpoints from which this process connects: one for each directory and access, which all
 * connections from that directory share.
 */
public final class ClientEndpoints {

  private static final Map<Key, Endpoint> ENDPOINTS = new HashMap<>();

  private record Key(Path directory, Access access) {}

  private ClientEndpoints() {}

  /**
   * Returns the endpoint of a directory, retained for the caller.
   *
   * @param server an address in the directory
   * @param access the users that may use the endpoint
   * @return the endpoint, to be released
   * @throws IOException if it cannot be created
   */
  public static Endpoint retain(SmAddress server, Access access) throws IOException {
    synchronized (ENDPOINTS) {
      ENDPOINTS.values().removeIf(endpoint -> !endpoint.isOpen());
      Key key = new Key(server.base(), access);
      @Nullable Endpoint known = ENDPOINTS.get(key);
      if (known != null && known.retain()) {
        return known;
      }
      Endpoint opened = Endpoint.open(new SmAddress(server.base(), null), access);
      if (opened == null) {
        throw new IOException("cannot open an endpoint in " + server.base());
      }
      ENDPOINTS.put(key, opened);
      return opened;
    }
  }
}
