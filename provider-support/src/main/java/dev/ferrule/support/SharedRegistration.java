// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.RegisteredMemory;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A registration of memory that all connections of a provider can use. It ends when it is closed or
 * when the last connection that uses it has closed.
 *
 * <p>A use is added, and the registration marked as closed, under the same monitor: a close waits
 * for the use, or the use is refused. Within a use, a sender announces its operation and then
 * checks {@link #isOpen}; a close marks the registration as closed and then checks for announced
 * operations.
 *
 * <p><b>Threads:</b> any thread may call. The monitor of a registration is entered before that of a
 * {@link MemoryUses}, never the other way round.
 */
public final class SharedRegistration implements RegisteredMemory {

  private final Class<? extends MemoryUse> type;
  private final URI uri;
  private final MemorySegment segment;
  private final Map<MemoryUse, MemoryUses<?>> uses = new LinkedHashMap<>(); // under the monitor
  private int closers; // threads in close, under the monitor
  private volatile boolean closed; // written under the monitor

  /**
   * Creates a registration, to which the first use is added.
   *
   * @param type the type of the uses
   * @param uri the URI of the connection with which the memory is registered
   * @param segment the memory
   */
  SharedRegistration(Class<? extends MemoryUse> type, URI uri, MemorySegment segment) {
    Registrations.check(segment);
    this.type = type;
    this.uri = uri;
    this.segment = segment;
  }

  boolean isOf(Class<? extends MemoryUse> candidate) {
    return type == candidate;
  }

  URI uri() {
    return uri;
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  /** {@return whether the registration is neither closed nor being closed} */
  public boolean isOpen() {
    return !closed;
  }

  /** Checks that a connection may use the memory; see {@link MemoryUse#checkOpen}. */
  void checkOpen(Lifecycle connection) {
    if (closed) {
      connection.checkOpen();
      throw new IllegalStateException("the registered memory is closed; register it again");
    }
    if (!segment.scope().isAlive()) {
      throw new IllegalStateException(
          "the memory was freed while it was registered; close the registration before its arena");
    }
  }

  /** Returns the use by a connection, which begins if there is none. */
  synchronized <U extends MemoryUse> MemoryUses.Known<U> add(MemoryUses<U> connection) {
    checkOpen(connection.life());
    MemoryUses.Known<U> known = connection.begin(this);
    uses.put(known.use(), connection);
    return known;
  }

  /** Ends a use, unless it has ended. With the last one, the registration ends. */
  synchronized void end(MemoryUse use) {
    MemoryUses<?> connection = uses.remove(use);
    if (connection != null) {
      closed |= uses.isEmpty();
      try {
        use.release();
      } finally {
        connection.forget(this); // last: a close of the connection waits for the release
      }
    }
  }

  /**
   * Each closing thread waits for all uses itself, and not for other closing threads: the wait may
   * detect the end of a connection, whose callbacks may close other memory.
   */
  @Override
  public void close() {
    List<MemoryUse> all = beginClose();
    try {
      awaitPosted(all);
      long start = System.nanoTime();
      for (MemoryUse use : all) {
        if (!use.awaitUnused(start)) {
          use.giveUp();
        }
        end(use);
      }
    } finally {
      endClose();
    }
  }

  private synchronized List<MemoryUse> beginClose() {
    closers++;
    closed = true;
    return List.copyOf(uses.keySet());
  }

  /** Opens the registration again if it has not ended, and no other thread is closing it. */
  private synchronized void endClose() {
    closers--;
    closed = closers > 0 || uses.isEmpty();
  }

  private static void awaitPosted(List<MemoryUse> all) {
    long start = System.nanoTime();
    for (MemoryUse use : all) {
      if (!use.awaitPosted(start)) {
        throw new IllegalStateException(
            "a message from the registered memory is staged: flush it before closing the"
                + " registration");
      }
    }
  }

  @Override
  public String toString() {
    return "registered memory of " + segment.byteSize() + " bytes";
  }
}
