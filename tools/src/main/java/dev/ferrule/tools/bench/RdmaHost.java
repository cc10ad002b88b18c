// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Finds an address of this host that belongs to an RDMA device. The loopback address usually does
 * not.
 */
final class RdmaHost {

  private static final Path DEVICES = Path.of("/sys/class/infiniband");

  private RdmaHost() {}

  /** Returns the first IPv4 address of an RDMA device's network device; empty if there is none. */
  static Optional<String> address() {
    try (DirectoryStream<Path> devices = Files.newDirectoryStream(DEVICES)) {
      for (Path device : devices) {
        Path ports = device.resolve("ports");
        try (DirectoryStream<Path> found = Files.newDirectoryStream(ports)) {
          for (Path port : found) {
            Optional<String> address = addressOf(port.resolve("gid_attrs/ndevs/0"));
            if (address.isPresent()) {
              return address;
            }
          }
        }
      }
    } catch (IOException e) {
      return Optional.empty(); // no RDMA here
    }
    return Optional.empty();
  }

  private static Optional<String> addressOf(Path networkDeviceName) throws IOException {
    if (!Files.isReadable(networkDeviceName)) {
      return Optional.empty();
    }
    NetworkInterface device =
        NetworkInterface.getByName(Files.readString(networkDeviceName).strip());
    return device == null
        ? Optional.empty()
        : device
            .inetAddresses()
            .filter(Inet4Address.class::isInstance)
            .map(InetAddress::getHostAddress)
            .findFirst();
  }
}
