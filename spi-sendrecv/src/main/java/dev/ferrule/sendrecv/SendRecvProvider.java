// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import com.google.auto.service.AutoService;
import dev.ferrule.Option;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.VerbsLibrary;
import dev.ferrule.verbs.connection.RdmaProvider;
import java.util.List;

/** Connections over RDMA by SEND and RECV on a reliably connected queue pair. */
@AutoService(ConnectionProvider.class)
public final class SendRecvProvider extends RdmaProvider {

  /** Made by {@link java.util.ServiceLoader}; touches nothing of the system. */
  public SendRecvProvider() {
    super(new SendRecvProtocol(), VerbsLibrary::system); // loaded when first used
  }

  /**
   * A provider that goes by other functions than those of the installed libraries, such as a test's
   * that fail.
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
