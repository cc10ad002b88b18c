// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalDouble;

/** The machine's load. */
final class Noise {

  private static final Path LOAD = Path.of("/proc/loadavg");

  private Noise() {}

  /** Returns the load average of the last minute; empty if unknown. */
  static OptionalDouble loadAverage() {
    try {
      return OptionalDouble.of(Double.parseDouble(Files.readString(LOAD).split(" ")[0]));
    } catch (IOException | NumberFormatException e) {
      return OptionalDouble.empty();
    }
  }
}
