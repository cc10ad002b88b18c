// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring;

import com.google.auto.service.AutoService;
import dev.ferrule.Option;
import dev.ferrule.rdma.connection.RdmaProvider;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.VerbsLibrary;
import java.util.List;

/** Connections over RDMA by WRITE WITH IMMEDIATE into a ring at the receiver. */
@AutoService(ConnectionProvider.class)
public final class MagicRingProvider extends RdmaProvider {

  /** Creates the provider, for {@link java.util.ServiceLoader}. Does not access the system. */
  public MagicRingProvider() {
    super(new MagicRingProtocol(), VerbsLibrary::system); // loaded on first use
  }

  /**
   * Creates a provider that uses the given functions instead of those of the installed libraries,
   * for tests with failing functions.
   *
   * @param library the functions
   */
  public MagicRingProvider(VerbsLibrary library) {
    super(new MagicRingProtocol(), () -> library);
  }

  @Override
  public String description() {
    return "RDMA between hosts by WRITE WITH IMMEDIATE into a double-mapped ring";
  }

  @Override
  public String exampleAddress() {
    return "magicring://10.0.0.1:18515";
  }

  @Override
  public List<Option<?>> options() {
    return MagicRingOptions.all();
  }
}
