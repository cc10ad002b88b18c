// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalDouble;

/** How busy the machine is with other things. */
final class Noise {

  private static final Path LOAD = Path.of("/proc/loadavg");

  private Noise() {}

  /** Returns how many threads ran or wanted to in the last minute; empty if nobody says. */
  static OptionalDouble loadAverage() {
    try {
      return OptionalDouble.of(Double.parseDouble(Files.readString(LOAD).split(" ")[0]));
    } catch (IOException | NumberFormatException e) {
      return OptionalDouble.empty();
    }
  }
}
