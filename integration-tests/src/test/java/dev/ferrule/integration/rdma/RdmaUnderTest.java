// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Listener;
import dev.ferrule.StandardOptions;
import dev.ferrule.contract.ProviderUnderTest;
import dev.ferrule.contract.SystemResources;
import dev.ferrule.contract.ViaListenerReceiver;
import java.net.URI;
import java.util.List;
import java.util.Set;

/** The properties of a provider under test that uses the device's address. */
final class RdmaUnderTest implements ProviderUnderTest {

  private final String scheme;
  private final String roomOption;
  private final String room;
  private final boolean viaListenerReceiver;
  private final String[] options;

  private RdmaUnderTest(
      String scheme,
      String roomOption,
      String room,
      boolean viaListenerReceiver,
      String... options) {
    this.scheme = scheme;
    this.roomOption = roomOption;
    this.room = room;
    this.viaListenerReceiver = viaListenerReceiver;
    this.options = options;
  }

  /**
   * Returns sendrecv in one of its modes.
   *
   * @param options names and values of further options, alternately
   */
  static RdmaUnderTest sendRecv(String... options) {
    return new RdmaUnderTest("sendrecv", "receives", "32", false, options);
  }

  /**
   * Returns sendrecv with listeners that receive for the connections accepted.
   *
   * @param options names and values of further options, alternately
   */
  static RdmaUnderTest sendRecvViaListenerReceiver(String... options) {
    return new RdmaUnderTest("sendrecv", "receives", "32", true, options);
  }

  /**
   * Returns magicring in one of its modes.
   *
   * @param options names and values of further options, alternately
   */
  static RdmaUnderTest magicRing(String... options) {
    return new RdmaUnderTest("magicring", "ring", "140KiB", false, options);
  }

  /**
   * Returns magicring with listeners that receive for the connections accepted.
   *
   * @param options names and values of further options, alternately
   */
  static RdmaUnderTest magicRingViaListenerReceiver(String... options) {
    return new RdmaUnderTest("magicring", "ring", "140KiB", true, options);
  }

  @Override
  public URI listenAddress() {
    return URI.create(scheme + "://" + RdmaDevice.address() + ":0");
  }

  @Override
  public ConnectionOptions options() {
    ConnectionOptions.Builder builder =
        ConnectionOptions.builder()
            .set(StandardOptions.MAX_MESSAGE, 16L * 1024)
            .set(roomOption, room);
    for (int i = 0; i < options.length; i += 2) {
      builder.set(options[i], options[i + 1]);
    }
    return builder.build();
  }

  @Override
  public Connection accepted(Listener listener, Connection connection) {
    return viaListenerReceiver ? new ViaListenerReceiver(listener, connection) : connection;
  }

  /** The device counts retransmissions per port, and wake-ups of the peer not at all. */
  @Override
  public Set<String> notCounted() {
    return Set.of("retransmissions", "wakeupsSent");
  }

  /**
   * The peer returns credits and the space of a ring by messages, which may be late; each mode
   * begins with credits for 8 messages or more.
   */
  @Override
  public int messagesWithoutBackPressure() {
    return 8;
  }

  /** The modes differ in receiving, not in connecting. */
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
    // nothing to remove
  }
}
