// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static dev.ferrule.sm.rma.RmaLayout.INT;
import static dev.ferrule.sm.rma.RmaLayout.LONG;

import dev.ferrule.sm.endpoint.EndpointFiles;
import dev.ferrule.sm.os.Knem;
import dev.ferrule.sm.os.SharedFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The file {@code rma} of one side of a connection, mapped; see {@link RmaLayout}.
 *
 * @param directory the connection's directory at that side
 * @param memory the mapping
 * @param isTrusted whether only processes of this user can have written what it says. Process
 *     numbers, addresses and cookies of anybody else must not be used: they may be those of this
 *     process, which would then be made to copy from and to itself
 */
public record RmaFile(Path directory, MemorySegment memory, boolean isTrusted) {

  /**
   * Makes this side's file.
   *
   * @param directory the connection's directory
   * @param generation that of the ring there
   * @param driver KNEM; null if there is none
   * @param arena unmaps it
   * @return the file
   * @throws dev.ferrule.sm.os.PosixException if it cannot be made
   */
  public static RmaFile create(
      Path directory, long generation, @Nullable Knem driver, Arena arena) {
    MemorySegment memory =
        SharedFile.create(directory.resolve(EndpointFiles.RMA), RmaLayout.SIZE, arena);
    INT.set(memory, RmaLayout.DESCRIPTOR_VERSION, RmaLayout.VERSION);
    LONG.set(memory, RmaLayout.DESCRIPTOR_GENERATION, generation);
    LONG.set(memory, RmaLayout.DESCRIPTOR_PID, ProcessHandle.current().pid());
    LONG.set(memory, RmaLayout.DESCRIPTOR_PROBE, Probe.address());
    LONG.set(memory, RmaLayout.DESCRIPTOR_PROBE_VALUE, Probe.value());
    LONG.set(memory, RmaLayout.DESCRIPTOR_PROBE_COOKIE, Probe.cookie(driver));
    LONG.setRelease(memory, RmaLayout.DESCRIPTOR_MAGIC, RmaLayout.MAGIC);
    return new RmaFile(directory, memory, true);
  }

  /**
   * Maps the peer's file.
   *
   * @param directory the connection's directory at the peer
   * @param arena unmaps it
   * @return the file
   * @throws dev.ferrule.sm.os.PosixException if there is none, or it is too small
   */
  public static RmaFile attach(Path directory, Arena arena) {
    SharedFile.Attached file =
        SharedFile.attachAndLook(directory.resolve(EndpointFiles.RMA), RmaLayout.SIZE, arena);
    return new RmaFile(directory, file.memory(), file.isPrivate());
  }

  /**
   * Tells whether it belongs to a ring.
   *
   * @param generation the ring's generation
   * @return whether it does, and is of this version
   */
  public boolean isOf(long generation) {
    return (long) LONG.getAcquire(memory, RmaLayout.DESCRIPTOR_MAGIC) == RmaLayout.MAGIC
        && (int) INT.get(memory, RmaLayout.DESCRIPTOR_VERSION) == RmaLayout.VERSION
        && (long) LONG.get(memory, RmaLayout.DESCRIPTOR_GENERATION) == generation;
  }
}
