// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.competitor;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The device's parameters for perftest.
 *
 * @param device its name
 * @param gid the index of the GID
 * @param address the IPv4 address of that GID
 */
record RdmaPort(String device, int gid, String address) {

  private static final Path DEVICES = Path.of("/sys/class/infiniband");

  /** The prefix of an IPv4 address as a GID. */
  private static final String IPV4_PREFIX = "0000:0000:0000:0000:0000:ffff:";

  private static final String ROCE_V2 = "RoCE v2";

  /** Returns the first port 1 that has an IPv4 address for RoCE v2. */
  static Optional<RdmaPort> first() {
    return first(DEVICES);
  }

  static Optional<RdmaPort> first(Path devices) {
    try (DirectoryStream<Path> found = Files.newDirectoryStream(devices)) {
      for (Path device : found) {
        Path port = device.resolve("ports/1");
        try (DirectoryStream<Path> gids = Files.newDirectoryStream(port.resolve("gids"))) {
          for (Path gid : gids) {
            String index = gid.getFileName().toString();
            Optional<String> address = address(read(gid));
            if (address.isPresent()
                && read(port.resolve("gid_attrs/types").resolve(index)).equals(ROCE_V2)) {
              return Optional.of(
                  new RdmaPort(
                      device.getFileName().toString(), Integer.parseInt(index), address.get()));
            }
          }
        }
      }
    } catch (IOException e) {
      return Optional.empty(); // no RDMA
    }
    return Optional.empty();
  }

  private static Optional<String> address(String gid) {
    if (!gid.startsWith(IPV4_PREFIX)) {
      return Optional.empty();
    }
    byte[] bytes = HexFormat.of().parseHex(gid.substring(IPV4_PREFIX.length()).replace(":", ""));
    return Optional.of(
        (bytes[0] & 0xff)
            + "."
            + (bytes[1] & 0xff)
            + "."
            + (bytes[2] & 0xff)
            + "."
            + (bytes[3] & 0xff));
  }

  /** Reads a file; the kernel answers a read of an unused entry with an error. */
  private static String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      return "";
    }
  }
}
