// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import com.google.auto.service.AutoService;
import dev.ferrule.Option;
import dev.ferrule.rdma.connection.RdmaProvider;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.VerbsLibrary;
import java.util.List;

/** Connections over RDMA by SEND and RECV on a reliable connected queue pair. */
@AutoService(ConnectionProvider.class)
public final class SendRecvProvider extends RdmaProvider {

  /** Creates the provider, for {@link java.util.ServiceLoader}. Does not access the system. */
  public SendRecvProvider() {
    super(new SendRecvProtocol(), VerbsLibrary::system); // loaded on first use
  }

  /**
   * Creates a provider that uses the given functions instead of those of the installed libraries,
   * for tests with failing functions.
   *
   * @param library the functions
   */
  public SendRecvProvider(VerbsLibrary library) {
    super(new SendRecvProtocol(), () -> library);
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
  public List<Option<?>> options() {
    return SendRecvOptions.all();
  }
}
