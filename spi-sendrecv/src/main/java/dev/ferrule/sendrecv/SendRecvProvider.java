// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import com.google.auto.service.AutoService;
import dev.ferrule.Availability;
import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Listener;
import dev.ferrule.Option;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.VerbsLibrary;
import java.net.URI;
import java.util.List;
import java.util.function.Supplier;

/** Connections over RDMA by SEND and RECV on a reliably connected queue pair. */
@AutoService(ConnectionProvider.class)
public final class SendRecvProvider implements ConnectionProvider {

  static final String SCHEME = "sendrecv";

  private final Supplier<VerbsLibrary> library;

  /** Made by {@link java.util.ServiceLoader}; touches nothing of the system. */
  public SendRecvProvider() {
    this.library = VerbsLibrary::system; // loaded when first used
  }

  /**
   * A provider that goes by other functions than those of the installed libraries, such as a test's
   * that fail.
   *
   * @param library the functions
   */
  public SendRecvProvider(VerbsLibrary library) {
    this.library = () -> library;
  }

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public String description() {
    return "RDMA between hosts by SEND and RECV, with credits";
  }

  @Override
  public String exampleAddress() {
    return "sendrecv://10.0.0.1:18515";
  }

  @Override
  public Availability availability() {
    return VerbsLibrary.availability();
  }

  @Override
  public List<Option<?>> options() {
    return SendRecvOptions.all();
  }

  @Override
  public Connection connect(URI address, ConnectionOptions options) {
    return Connector.connect(library, address, options.resolve(address, options()));
  }

  @Override
  public Listener listen(URI address, ConnectionOptions options) {
    return SendRecvListener.listen(library, address, options.resolve(address, options()));
  }
}
