// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * The RDMA devices' counters of messages that found no receive posted (RNR). Devices differ in
 * their names, and count per port and not per connection.
 */
final class RnrCounters {

  private static final Path DEVICES = Path.of("/sys/class/infiniband");
  private static final String OUT_OF_BUFFER = "out_of_buffer";
  private static final String RNR = "rnr";

  private RnrCounters() {}

  /** Returns the sum over all devices and ports; empty if no device has such a counter. */
  static OptionalLong read() {
    long sum = 0;
    boolean counted = false;
    try (DirectoryStream<Path> devices = Files.newDirectoryStream(DEVICES)) {
      for (Path device : devices) {
        try (DirectoryStream<Path> ports = Files.newDirectoryStream(device.resolve("ports"))) {
          for (Path port : ports) {
            OptionalLong count = ofPort(port.resolve("hw_counters"));
            counted |= count.isPresent();
            sum += count.orElse(0);
          }
        }
      }
    } catch (IOException | NumberFormatException e) {
      return OptionalLong.empty();
    }
    return counted ? OptionalLong.of(sum) : OptionalLong.empty();
  }

  private static OptionalLong ofPort(Path counters) throws IOException {
    if (!Files.isDirectory(counters)) {
      return OptionalLong.empty();
    }
    long sum = 0;
    boolean counted = false;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(counters)) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        if (name.contains(RNR) || name.equals(OUT_OF_BUFFER)) {
          sum += Long.parseLong(Files.readString(file).strip());
          counted = true;
        }
      }
    }
    return counted ? OptionalLong.of(sum) : OptionalLong.empty();
  }
}
