// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Listener;
import dev.ferrule.contract.ProviderUnderTest;
import dev.ferrule.contract.SystemResources;
import java.net.URI;
import java.util.List;

/** What the contract tests have to know of sendrecv: it works on the address of the device. */
final class SendRecvUnderTest implements ProviderUnderTest {

  private final boolean viaListenerReceiver;
  private final String[] options;

  /**
   * Creates it.
   *
   * @param options names and values of further options, in turn
   */
  SendRecvUnderTest(String... options) {
    this(false, options);
  }

  private SendRecvUnderTest(boolean viaListenerReceiver, String... options) {
    this.viaListenerReceiver = viaListenerReceiver;
    this.options = options;
  }

  /**
   * Creates one whose listeners receive for the connections that they have accepted.
   *
   * @param options names and values of further options, in turn
   */
  static SendRecvUnderTest viaListenerReceiver(String... options) {
    return new SendRecvUnderTest(true, options);
  }

  @Override
  public URI listenAddress() {
    return URI.create("sendrecv://" + RdmaDevice.address() + ":0");
  }

  @Override
  public ConnectionOptions options() {
    ConnectionOptions.Builder builder =
        ConnectionOptions.builder().maxMessageSize(16 * 1024).set("receives", "32");
    for (int i = 0; i < options.length; i += 2) {
      builder.set(options[i], options[i + 1]);
    }
    return builder.build();
  }

  @Override
  public Connection accepted(Listener listener, Connection connection) {
    return viaListenerReceiver ? new ViaListenerReceiver(listener, connection) : connection;
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
