// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.Availability;
import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Listener;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.VerbsLibrary;
import java.net.URI;
import java.util.function.Supplier;

/** A provider of connections over RDMA, by a protocol of its own. */
public abstract class RdmaProvider implements ConnectionProvider {

  private final RdmaProtocol protocol;
  private final Supplier<VerbsLibrary> library;

  /**
   * Touches nothing of the system.
   *
   * @param protocol the protocol
   * @param library the libraries to go by, asked for when they are first needed
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
    return VerbsLibrary.availability();
  }

  @Override
  public final Connection connect(URI address, ConnectionOptions options) {
    return RdmaConnector.connect(protocol, library, address, options.resolve(address, options()));
  }

  @Override
  public final Listener listen(URI address, ConnectionOptions options) {
    return RdmaListener.listen(protocol, library, address, options.resolve(address, options()));
  }
}
