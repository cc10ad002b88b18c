// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** The device's counters of messages refused because no receive was posted (RNR). */
final class Refusals {

  private static final Path COUNTERS =
      Path.of("/sys/class/infiniband", RdmaDevice.name(), "ports/1/hw_counters");

  private Refusals() {}

  /** Skips the test on a device without these counters. */
  static void assumeCounted() {
    assumeTrue(
        Files.exists(COUNTERS.resolve("send_rnr_err")), "the device does not count RNR NAKs");
  }

  /** Returns how often the device refused a message, and had one refused. */
  static List<Long> count() {
    Task.pause(Duration.ofMillis(50)); // the kernel caches the counters for up to 10 ms
    return Stream.of("send_rnr_err", "rcvd_rnr_err")
        .map(
            name -> {
              try {
                return Long.valueOf(Files.readString(COUNTERS.resolve(name)).strip());
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            })
        .toList();
  }
}
