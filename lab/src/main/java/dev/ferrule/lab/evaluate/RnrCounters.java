// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/**
 * The RDMA devices' counters of messages that found no receive posted (RNR). Devices differ in
 * their names, and count per port and not per connection.
 */
final class RnrCounters {

  private static final Path DEVICES = Path.of("/sys/class/infiniband");
  private static final String COUNTERS = "{*rnr*,out_of_buffer}";

  private RnrCounters() {}

  /** Returns the sum over all devices and ports; empty if no device has such a counter. */
  static OptionalLong read() {
    List<Long> counts =
        SystemFiles.list(DEVICES, "*").stream()
            .flatMap(device -> SystemFiles.list(device.resolve("ports"), "*").stream())
            .flatMap(port -> SystemFiles.list(port.resolve("hw_counters"), COUNTERS).stream())
            .flatMap(counter -> SystemFiles.text(counter).stream())
            .filter(count -> count.matches("\\d+"))
            .map(Long::valueOf)
            .toList();
    return counts.isEmpty()
        ? OptionalLong.empty()
        : OptionalLong.of(counts.stream().mapToLong(Long::longValue).sum());
  }
}
