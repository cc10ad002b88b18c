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
 * A transport, found by {@link java.util.ServiceLoader} and selected by its URI scheme. Loading and
 * constructing a provider must not fail or access the system. {@link #availability()} checks for
 * everything that may be missing, such as a library or a device.
 *
 * <p>Programs use a provider through {@link dev.ferrule.Ferrule}; {@link dev.ferrule.ProviderInfo}
 * describes it to them.
 *
 * <p><b>Threads:</b> any number of threads may use a provider.
 */
public interface ConnectionProvider {

  /** {@return the URI scheme of this provider, in lower case} */
  String scheme();

  /** {@return a one-line description of the provider, for a list of providers} */
  String description();

  /** {@return an example of an address} */
  String exampleAddress();

  /** {@return whether the provider works on this machine} Cheap after the first; never throws. */
  Availability availability();

  /**
   * {@return all options of the provider's connections and listeners: the standard options and
   * those specific to the provider}
   */
  List<Option<?>> options();

  /**
   * Connects to a listener; see {@code Ferrule.connect} for the exceptions. Called only if the
   * provider is available.
   *
   * @param address the URI as given by the user
   * @param options the options, not yet merged with the URI's query
   * @return the connection, ready for messages
   */
  Connection connect(URI address, ConnectionOptions options);

  /**
   * Listens on an address; see {@code Ferrule.listen} for the exceptions. Called only if the
   * provider is available.
   *
   * @param address the URI as given by the user
   * @param options the options, not yet merged with the URI's query
   * @return the listener
   */
  Listener listen(URI address, ConnectionOptions options);

  /**
   * {@return the registry of the provider's endpoints, if they are in the file system; empty if no
   * part of an endpoint outlives its process}
   */
  default Optional<EndpointRegistry> endpointRegistry() {
    return Optional.empty();
  }
}
