// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.competitor;

import dev.ferrule.lab.evaluate.SystemFiles;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The parameters of a device for perftest: its name, the index of a GID, and the IPv4 address that
 * the GID contains.
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
    return SystemFiles.list(devices, "*").stream()
        .flatMap(device ->
            SystemFiles.list(device.resolve("ports/1/gids"), "*").stream()
                .flatMap(gid -> of(device, gid).stream()))
        .findFirst();
  }

  private static Optional<RdmaPort> of(Path device, Path gid) {
    String index = gid.getFileName().toString();
    Path type = device.resolve("ports/1/gid_attrs/types").resolve(index);
    return SystemFiles.text(gid) // reading an unused entry fails
        .filter(text -> text.startsWith(IPV4_PREFIX))
        .filter(text -> SystemFiles.text(type).filter(ROCE_V2::equals).isPresent())
        .map(text ->
            new RdmaPort(device.getFileName().toString(), Integer.parseInt(index), address(text)));
  }

  private static String address(String gid) {
    byte[] bytes = HexFormat.of().parseHex(gid.substring(IPV4_PREFIX.length()).replace(":", ""));
    return IntStream.range(0, bytes.length)
        .mapToObj(i -> String.valueOf(bytes[i] & 0xff))
        .collect(Collectors.joining("."));
  }
}
