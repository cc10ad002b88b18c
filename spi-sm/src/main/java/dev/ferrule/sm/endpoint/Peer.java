// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.sm.os.Fifo;
import dev.ferrule.sm.os.PosixException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The other side of a connection, as far as it is told something by its endpoint's FIFO. Any number
 * of threads may use one; nothing here blocks, not even each other, or allocates.
 */
public final class Peer implements AutoCloseable {

  private final Fifo.Writer fifo;
  private final MemorySegment[] headers = new MemorySegment[FifoHeader.TYPES];
  private final Runnable onFull;

  /** A bit for each type of header that found no room, and has to be written yet. */
  private final AtomicInteger owed = new AtomicInteger();

  /**
   * Opens the FIFO of a peer's endpoint.
   *
   * @param endpoint the endpoint's address
   * @param id the connection's number there
   * @param onFull run, by any thread, when something was to be told and found no room; {@link
   *     #tellAgain} is to be called when there is some
   * @throws PosixException if that is not possible; ENXIO or ENOENT if the peer's process is gone
   */
  public Peer(SmAddress endpoint, int id, Runnable onFull) {
    this.onFull = onFull;
    this.fifo = new Fifo.Writer(endpoint.directory().resolve(EndpointFiles.FIFO));
    MemorySegment memory = Arena.ofAuto().allocate(ValueLayout.JAVA_INT, headers.length);
    for (int type = 0; type < headers.length; type++) {
      memory.setAtIndex(ValueLayout.JAVA_INT, type, FifoHeader.of(type, id));
      headers[type] = memory.asSlice((long) type * Integer.BYTES, Integer.BYTES);
    }
  }

  /**
   * Tells it, who sleeps, that there is something for it.
   *
   * @return whether it was told; if not, it will be when there is room in its FIFO, or is gone
   */
  public boolean wake() {
    return tell(FifoHeader.WAKEUP);
  }

  /** Tells it that this side has closed the connection. */
  public void tellClosed() {
    tell(FifoHeader.CLOSED);
  }

  /** Tells it, whose thread may sleep, that there are fragments of remote memory access. */
  public void tellFragments() {
    tell(FifoHeader.RMA);
  }

  /** Tells it, who sleeps, that fragments of its own are done. */
  public void tellFragmentsDone() {
    tell(FifoHeader.RMA_ACK);
  }

  /** Asks it whether it lives. */
  void askWhetherAlive() {
    tell(FifoHeader.KEEPALIVE);
  }

  /** Tells it, who has asked, that this side lives. */
  void tellAlive() {
    tell(FifoHeader.KEEPALIVE_REPLY);
  }

  private boolean tell(int type) {
    Fifo.Writer.Result result = fifo.write(headers[type]);
    if (result == Fifo.Writer.Result.FULL) {
      owed.accumulateAndGet(1 << type, Peer::union);
      onFull.run();
    }
    return result == Fifo.Writer.Result.WRITTEN;
  }

  private static int union(int some, int others) {
    return some | others;
  }

  /**
   * Tells it what found no room before.
   *
   * @return whether nothing of that is left
   */
  boolean tellAgain() {
    for (int types = owed.getAndSet(0); types != 0; types &= types - 1) {
      int type = Integer.numberOfTrailingZeros(types);
      if (fifo.write(headers[type]) == Fifo.Writer.Result.FULL) {
        owed.accumulateAndGet(types, Peer::union);
        return false;
      }
    }
    return true;
  }

  /** The FIFO's descriptor, on which the poll reports an error when the peer's process is gone. */
  int fd() {
    return fifo.fd();
  }

  @Override
  public void close() {
    fifo.close();
  }
}
