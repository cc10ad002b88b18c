// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A port of an RDMA device through which messages can be sent: it is active and has an address.
 *
 * @param device the device's name
 * @param number the port's number
 * @param address an IPv4 address of its network device
 * @param gidIndex the index of the RoCE v2 GID of that address; empty for InfiniBand
 */
record ActivePort(String device, String number, String address, Optional<String> gidIndex) {

  /** Returns the first active port with an address on this host. */
  static Optional<ActivePort> find() {
    return find(RdmaChecks.DEVICES, ActivePort::addressOf);
  }

  /**
   * Returns the first active port with an address.
   *
   * @param devices the folder of the kernel's RDMA devices
   * @param addresses returns the IPv4 address of a network device
   */
  static Optional<ActivePort> find(Path devices, Function<String, Optional<String>> addresses) {
    return RdmaChecks.children(devices).stream()
        .flatMap(device ->
            RdmaChecks.children(device.resolve("ports")).stream()
                .filter(RdmaChecks::isActive)
                .flatMap(port -> of(device, port, addresses).stream()))
        .findFirst();
  }

  private static Optional<ActivePort> of(
      Path device, Path port, Function<String, Optional<String>> addresses) {
    // InfiniBand GIDs have no network device. The network devices of the card are those of IPoIB.
    Stream<String> networkDevices =
        Stream.concat(
            RdmaChecks.children(port.resolve("gid_attrs/ndevs")).stream().map(RdmaChecks::read),
            RdmaChecks.children(device.resolve("device/net")).stream().map(ActivePort::name));
    return networkDevices
        .distinct()
        .flatMap(name -> addresses.apply(name).stream())
        .findFirst()
        .map(address -> new ActivePort(name(device), name(port), address, gidIndex(port, address)));
  }

  private static Optional<String> gidIndex(Path port, String address) {
    String[] bytes = address.split("\\.");
    String gid =
        String.format(
            "0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x",
            Stream.of(bytes).map(Integer::valueOf).toArray());
    return RdmaChecks.children(port.resolve("gids")).stream()
        .filter(file -> RdmaChecks.read(file).equals(gid))
        .map(ActivePort::name)
        .filter(index -> RdmaChecks.read(port.resolve("gid_attrs/types/" + index)).contains("v2"))
        .findFirst();
  }

  private static String name(Path file) {
    return file.getFileName().toString();
  }

  private static Optional<String> addressOf(String networkDevice) {
    try {
      NetworkInterface found = NetworkInterface.getByName(networkDevice);
      return found == null
          ? Optional.empty()
          : found
              .inetAddresses()
              .filter(Inet4Address.class::isInstance)
              .map(InetAddress::getHostAddress)
              .findFirst();
    } catch (SocketException e) {
      return Optional.empty();
    }
  }

  @Override
  public String toString() {
    return "%s port %s, address %s%s"
        .formatted(
            device, number, address, gidIndex.map(index -> ", GID index " + index).orElse(""));
  }
}
