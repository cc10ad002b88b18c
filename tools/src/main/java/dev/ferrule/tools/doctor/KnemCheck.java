// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Checks the KNEM driver, an optional way of the sm provider to copy between processes. */
final class KnemCheck implements Check {

  private static final Path DEVICE = Path.of("/dev/knem");
  private static final String NAME = "KNEM";
  private static final long GET_INFO = 0x40104b10L;
  private static final int INFO_BYTES = 16;
  private static final int ABI = 0xd;

  @Override
  public List<Finding> run() {
    if (!Files.exists(DEVICE)) {
      return List.of(
          Finding.warn(
              NAME,
              DEVICE + " does not exist; messages do not need it",
              "only for rma=knem: build and load the KNEM module"));
    }
    int descriptor = Posix.tryOpen(DEVICE.toString(), Posix.O_RDWR, 0);
    if (descriptor < 0) {
      return List.of(Finding.warn(NAME, DEVICE + " cannot be opened", "chmod a+rw " + DEVICE));
    }
    try (Arena arena = Arena.ofConfined()) {
      return List.of(info(descriptor, arena));
    } finally {
      Posix.close(descriptor);
    }
  }

  private static Finding info(int descriptor, Arena arena) {
    MemorySegment info = arena.allocate(INFO_BYTES, Integer.BYTES);
    if (Posix.ioctl(descriptor, GET_INFO, info) != 0) {
      return Finding.warn(NAME, DEVICE + " is not KNEM's: wrong answer", "reload the KNEM module");
    }
    int abi = info.get(ValueLayout.JAVA_INT, 0);
    return abi == ABI
        ? Finding.ok(NAME, DEVICE + " with ABI " + abi + "; used with rma=knem on both sides")
        : Finding.warn(
            NAME,
            DEVICE + " has ABI " + abi + ", but " + ABI + " is needed",
            "load a KNEM module of version 1.1 or later");
  }
}
