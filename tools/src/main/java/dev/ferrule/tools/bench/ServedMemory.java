// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Connection;
import dev.ferrule.ExposedMemory;
import dev.ferrule.ResourceExhaustedException;
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
  private long bytes; // guarded by this: reserved from the limits
  private boolean closed; // guarded by this

  ServedMemory(Connection connection, ServerLimits limits) {
    this.connection = connection;
    this.limits = limits;
  }

  /** Exposes memory of the round's size, and replaces what was exposed before. */
  synchronized ExposureMessage expose(Round round) {
    int size = round.size();
    conceal();
    if (closed) {
      throw new IllegalStateException(connection.uri() + ": connection closed");
    }
    limits.expose(size);
    bytes = size;
    ExposedMemory made = round.kind() == Round.Kind.ALLOCATE ? allocateExposed(size) : expose(size);
    exposed = made;
    return new ExposureMessage(
        made.handle(), ProcessHandle.current().pid(), made.segment().address());
  }

  private ExposedMemory expose(int size) {
    return connection.rma().expose(allocate(size), RmaRight.READ, RmaRight.WRITE);
  }

  private ExposedMemory allocateExposed(int size) {
    try {
      return connection.rma().allocate(size, RmaRight.READ, RmaRight.WRITE);
    } catch (ResourceExhaustedException e) {
      conceal();
      throw new IllegalArgumentException(
          size + " bytes cannot be exposed: allocation failed: " + e.getMessage(), e);
    }
  }

  /** Allocates memory that the collector frees, since a copy in progress may still use it. */
  private MemorySegment allocate(int size) {
    try {
      return Arena.ofAuto().allocate(size, PAGE);
    } catch (OutOfMemoryError e) { // direct memory has its own limit
      conceal();
      throw new IllegalArgumentException(
          size + " bytes cannot be exposed: the server has not enough memory", e);
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

  /** Withdraws the exposed memory. */
  @Override
  public synchronized void close() {
    closed = true;
    conceal();
  }
}
