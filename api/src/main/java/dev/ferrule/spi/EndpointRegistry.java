// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.InvalidAddressException;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;

/**
 * The endpoints of a provider that keeps them in the file system. Endpoints of killed processes
 * stay there until they are removed. An invalid address causes {@link InvalidAddressException}.
 *
 * <p><b>Threads:</b> any thread may call these methods.
 */
public interface EndpointRegistry {

  /**
   * Lists the endpoints below an address. A directory of endpoints that cannot be read is listed
   * itself, as {@link EndpointInfo.State#UNKNOWN}.
   *
   * @param address the address of a directory, or of one endpoint
   * @return the endpoints, sorted by address
   * @throws IOException if the address cannot be read
   */
  List<EndpointInfo> list(URI address) throws IOException;

  /**
   * Asks the processes of the live endpoints below an address for the counters of their
   * connections, and waits a moment for the answers. Messages are not delayed, no thread that waits
   * for them is woken, and a process that is not asked does nothing.
   *
   * @param address the address of a directory, or of one endpoint
   * @return the connections by the endpoint's address; without the endpoints of processes that do
   *     not answer in time, or that this user may not ask
   * @throws IOException if the address cannot be read
   */
  default Map<URI, List<ConnectionSample>> sample(URI address) throws IOException {
    return Map.of();
  }

  /**
   * Lists the endpoints that {@link #clean} would remove now.
   *
   * @param address the address of a directory, or of one endpoint
   * @return the endpoints whose owners have died and which this user may remove
   * @throws IOException if the address cannot be read
   */
  List<EndpointInfo> removable(URI address) throws IOException;

  /**
   * Removes the endpoints below an address whose owners have died. Never removes a live endpoint,
   * or other files in an endpoint's directory.
   *
   * @param address the address of a directory, or of one endpoint
   * @return the endpoints that were removed
   * @throws IOException if the address cannot be read
   */
  List<EndpointInfo> clean(URI address) throws IOException;
}
