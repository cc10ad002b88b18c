// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.Availability;
import dev.ferrule.Availability.Unavailable;
import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.ProviderUnavailableException;
import dev.ferrule.rdma.context.RdmaAvailability;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.VerbsLibrary;
import java.net.URI;
import java.util.function.Supplier;

/** A provider of connections over RDMA, with a given protocol. */
public abstract class RdmaProvider implements ConnectionProvider {

  private final RdmaProtocol protocol;
  private final Supplier<VerbsLibrary> library;

  /**
   * Creates a provider. Does not access the system.
   *
   * @param protocol the protocol
   * @param library returns the libraries; called on first use
   */
  protected RdmaProvider(RdmaProtocol protocol, Supplier<VerbsLibrary> library) {
    this.protocol = protocol;
    this.library = library;
  }

  @Override
  public final String scheme() {
    return protocol.scheme();
  }

  @Override
  public final Availability availability() {
    return RdmaAvailability.here();
  }

  @Override
  public final Connection connect(URI address, ConnectionOptions options) {
    ResolvedOptions resolved = ResolvedOptions.of(options, address, options());
    try {
      return RdmaConnector.connect(protocol, library, address, resolved);
    } catch (FerruleException e) {
      throw explained(address, e);
    }
  }

  @Override
  public final Listener listen(URI address, ConnectionOptions options) {
    ResolvedOptions resolved = ResolvedOptions.of(options, address, options());
    try {
      return RdmaListener.listen(protocol, library, address, resolved, System::nanoTime);
    } catch (FerruleException e) {
      throw explained(address, e);
    }
  }

  /**
   * Returns an exception that states why RDMA is unavailable, if that may be the cause of a
   * failure; otherwise the failure.
   */
  private FerruleException explained(URI address, FerruleException failure) {
    return RdmaAvailability.after(failure) instanceof Unavailable(String reason, String remedy)
        ? new ProviderUnavailableException(
            address,
            "the " + scheme() + " provider is unavailable: " + reason + "; " + remedy,
            failure)
        : failure;
  }
}
