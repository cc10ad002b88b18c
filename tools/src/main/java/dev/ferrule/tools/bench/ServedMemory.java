// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Connection;
import dev.ferrule.ExposedMemory;
import dev.ferrule.RmaRight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The memory that a server exposes to one client: one piece at a time. */
final class ServedMemory implements AutoCloseable {

  private static final long PAGE = 4096;

  private final Connection connection;
  private final ServerLimits limits;
  private @Nullable ExposedMemory exposed; // guarded by this
  private long bytes; // guarded by this: what was taken from the limits
  private boolean closed; // guarded by this

  ServedMemory(Connection connection, ServerLimits limits) {
    this.connection = connection;
    this.limits = limits;
  }

  /**
   * Exposes so much memory in place of what was exposed before.
   *
   * @return what the client needs to access it
   * @throws IllegalStateException if nothing is exposed any more, as the connection is closed
   */
  synchronized Exposure expose(int size) {
    conceal();
    if (closed) {
      throw new IllegalStateException(connection.uri() + ": the connection was closed");
    }
    limits.expose(size);
    bytes = size;
    MemorySegment memory = allocate(size);
    ExposedMemory made = connection.rma().expose(memory, RmaRight.READ, RmaRight.WRITE);
    exposed = made;
    return new Exposure(made.handle(), ProcessHandle.current().pid(), memory.address());
  }

  /** A copy that is under way may still use the memory, so the collector frees it. */
  private MemorySegment allocate(int size) {
    try {
      return Arena.ofAuto().allocate(size, PAGE);
    } catch (OutOfMemoryError e) { // of direct memory, which has a limit of its own
      conceal();
      throw new IllegalArgumentException(
          size + " bytes cannot be exposed: the server has not so much memory", e);
    }
  }

  private void conceal() {
    if (exposed != null) {
      exposed.close();
      exposed = null;
    }
    limits.conceal(bytes);
    bytes = 0;
  }

  /** Exposes nothing any more. */
  @Override
  public synchronized void close() {
    closed = true;
    conceal();
  }
}
