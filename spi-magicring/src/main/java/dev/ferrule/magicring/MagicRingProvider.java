// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring;

import com.google.auto.service.AutoService;
import dev.ferrule.Option;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.VerbsLibrary;
import dev.ferrule.verbs.connection.RdmaProvider;
import java.util.List;

/** Connections over RDMA by WRITE WITH IMMEDIATE into a ring at the receiver. */
@AutoService(ConnectionProvider.class)
public final class MagicRingProvider extends RdmaProvider {

  /** Made by {@link java.util.ServiceLoader}; touches nothing of the system. */
  public MagicRingProvider() {
    super(new MagicRingProtocol(), VerbsLibrary::system); // loaded when first used
  }

  /**
   * A provider that goes by other functions than those of the installed libraries, such as a test's
   * that fail.
   *
   * @param library the functions
   */
  public MagicRingProvider(VerbsLibrary library) {
    super(new MagicRingProtocol(), () -> library);
  }

  @Override
  public String description() {
    return "RDMA between hosts by WRITE WITH IMMEDIATE into a ring that is mapped twice";
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
