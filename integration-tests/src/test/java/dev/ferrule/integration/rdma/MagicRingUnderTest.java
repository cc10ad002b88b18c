// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.contract.ProviderUnderTest;
import dev.ferrule.contract.SystemResources;
import java.net.URI;
import java.util.List;

/** What the contract tests have to know of magicring: it works on the address of the device. */
final class MagicRingUnderTest implements ProviderUnderTest {

  private final String[] options;

  /**
   * Creates it.
   *
   * @param options names and values of further options, in turn
   */
  MagicRingUnderTest(String... options) {
    this.options = options;
  }

  @Override
  public URI listenAddress() {
    return URI.create("magicring://" + RdmaDevice.address() + ":0");
  }

  @Override
  public ConnectionOptions options() {
    ConnectionOptions.Builder builder =
        ConnectionOptions.builder().maxMessageSize(16 * 1024).set("ring", "140KiB");
    for (int i = 0; i < options.length; i += 2) {
      builder.set(options[i], options[i + 1]);
    }
    return builder.build();
  }

  /** The modes differ in how they receive, not in how connections are made. */
  @Override
  public int connectCloseCycles() {
    int cycles = ProviderUnderTest.super.connectCloseCycles();
    return options.length == 0 ? cycles : Math.max(100, cycles / 10);
  }

  @Override
  public List<String> mappings() {
    return SystemResources.mappings("infiniband");
  }

  @Override
  public List<String> leftOverFiles() {
    return List.of();
  }

  @Override
  public void close() {
    // there is nothing to remove
  }
}
