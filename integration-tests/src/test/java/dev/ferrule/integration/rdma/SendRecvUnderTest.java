// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.contract.ProviderUnderTest;
import dev.ferrule.contract.SystemResources;
import java.net.URI;
import java.util.List;

/** What the contract tests have to know of sendrecv: it works on the address of the device. */
final class SendRecvUnderTest implements ProviderUnderTest {

  private final String query;

  SendRecvUnderTest() {
    this("");
  }

  SendRecvUnderTest(String query) {
    this.query = query;
  }

  @Override
  public URI listenAddress() {
    return URI.create("sendrecv://" + RdmaDevice.address() + ":0" + query);
  }

  @Override
  public ConnectionOptions options() {
    return ConnectionOptions.builder().maxMessageSize(16 * 1024).set("receives", "32").build();
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
