// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.Availability;
import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Listener;
import dev.ferrule.Option;
import java.net.URI;
import java.util.List;
import java.util.Optional;

/**
 * A transport, found by {@link java.util.ServiceLoader} and picked by its URI scheme. Loading and
 * constructing one must not fail or touch the system: whatever can be missing (a library, a device)
 * is looked for by {@link #availability()}.
 *
 * {@snippet lang=java :
 * for (var provider : Ferrule.providers()) {
 *   System.out.println(provider.scheme() + " " + provider.availability());
 * }
 * }
 *
 * <p><b>Threads:</b> any number of threads may use a provider.
 */
public interface ConnectionProvider {

  /**
   * Returns the URI scheme that this provider serves.
   *
   * @return the scheme, in lower case
   */
  String scheme();

  /**
   * Returns what the provider is, for a list of providers.
   *
   * @return one line
   */
  String description();

  /**
   * Returns an address such as users might write.
   *
   * @return an example
   */
  String exampleAddress();

  /**
   * Tells whether the provider can work on this machine. Cheap after the first call; never throws.
   *
   * @return available, or why not and what to do
   */
  Availability availability();

  /**
   * Returns every option that the provider's connections and listeners take.
   *
   * @return the standard options and the provider's own
   */
  List<Option<?>> options();

  /**
   * Connects; see {@code Ferrule.connect} for the exceptions. Only called if available.
   *
   * @param address the URI as the user wrote it
   * @param options options, not yet merged with the URI's query
   * @return the connection, ready for messages
   */
  Connection connect(URI address, ConnectionOptions options);

  /**
   * Listens; see {@code Ferrule.listen} for the exceptions. Only called if available.
   *
   * @param address the URI as the user wrote it
   * @param options options, not yet merged with the URI's query
   * @return the listener
   */
  Listener listen(URI address, ConnectionOptions options);

  /**
   * Returns what keeps the provider's endpoints, if they lie in the file system.
   *
   * @return the registry; empty if nothing of an endpoint outlives its process
   */
  default Optional<EndpointRegistry> endpointRegistry() {
    return Optional.empty();
  }
}
