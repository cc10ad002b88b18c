// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Connection;
import dev.ferrule.ExposedMemory;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.RmaRight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The memory that a server exposes to one client: at most one segment at a time. */
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

  /** Exposes memory of the round's size instead of the memory exposed before. */
  synchronized ExposureMessage expose(Round round) {
    int size = round.size();
    if (size < 1) {
      throw new RoundRefusedException(
          "protocol violation: the client requested memory of " + size + " bytes");
    }
    endExposure();
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
      endExposure();
      throw new RoundRefusedException(
          size + " bytes cannot be exposed: allocation failed: " + e.getMessage(), e);
    }
  }

  /** Allocates memory that the garbage collector frees, since a copy may still use it. */
  private MemorySegment allocate(int size) {
    try {
      return Arena.ofAuto().allocate(size, PAGE);
    } catch (OutOfMemoryError e) { // direct memory has its own limit
      endExposure();
      throw new RoundRefusedException(
          size + " bytes cannot be exposed: the server has not enough memory", e);
    }
  }

  private void endExposure() {
    if (exposed != null) {
      exposed.close();
      exposed = null;
    }
    limits.endExposure(bytes);
    bytes = 0;
  }

  /** Ends the exposure of the memory. */
  @Override
  public synchronized void close() {
    closed = true;
    endExposure();
  }
}
