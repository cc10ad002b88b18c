// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.InvalidAddressException;
import java.io.IOException;
import java.net.URI;
import java.util.List;

/**
 * The endpoints of a provider that keeps them in the file system, where those of processes that
 * were killed stay until somebody removes them.
 *
 * <p><b>Threads:</b> any thread may call.
 */
public interface EndpointRegistry {

  /**
   * Lists the endpoints below an address. A directory of endpoints that may not be read is listed
   * itself, as {@link EndpointInfo.State#UNKNOWN}.
   *
   * @param address the address of a directory, or of one endpoint
   * @return what is there, in the order of the addresses
   * @throws InvalidAddressException if it is no such address
   * @throws IOException if it cannot be looked at
   */
  List<EndpointInfo> list(URI address) throws IOException;

  /**
   * Lists the endpoints that {@link #clean} would remove now.
   *
   * @param address the address of a directory, or of one endpoint
   * @return those whose owners have died and which this user may remove
   * @throws InvalidAddressException if it is no such address
   * @throws IOException if it cannot be looked at
   */
  List<EndpointInfo> removable(URI address) throws IOException;

  /**
   * Removes endpoints below an address whose owners have died, and never one that lives. Files of
   * others in them stay.
   *
   * @param address the address of a directory, or of one endpoint
   * @return what was removed
   * @throws InvalidAddressException if it is no such address
   * @throws IOException if it cannot be looked at
   */
  List<EndpointInfo> clean(URI address) throws IOException;
}
