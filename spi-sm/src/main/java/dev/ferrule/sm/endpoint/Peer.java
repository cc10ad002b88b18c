// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.posix.Fifo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Notifies the other side of a connection by its endpoint's FIFO. Any number of threads may use it;
 * no method blocks or allocates.
 */
public final class Peer implements AutoCloseable {

  private final Fifo.Writer fifo;
  private final MemorySegment[] headers = new MemorySegment[FifoHeader.TYPES];
  private final Runnable onFull;

  private final int id;

  /** A bit for each type of header that found the FIFO full and is still to be written. */
  private final AtomicInteger pending = new AtomicInteger();

  /**
   * Takes ownership of the FIFO of a peer's endpoint.
   *
   * @param fifo its writing end
   * @param id the connection's number there
   * @param onFull run, by any thread, when a header found the FIFO full; {@link #writePending} must
   *     be called when there is room
   */
  public Peer(Fifo.Writer fifo, int id, Runnable onFull) {
    this.id = id;
    this.onFull = onFull;
    this.fifo = fifo;
    MemorySegment memory = Arena.ofAuto().allocate(ValueLayout.JAVA_INT, headers.length);
    for (int type = 0; type < headers.length; type++) {
      memory.setAtIndex(ValueLayout.JAVA_INT, type, FifoHeader.of(type, id));
      headers[type] = memory.asSlice((long) type * Integer.BYTES, Integer.BYTES);
    }
  }

  /** {@return the connection's number at the peer's endpoint} */
  public int id() {
    return id;
  }

  /**
   * Wakes a sleeping peer.
   *
   * @return whether the header was written; if not, it is written when its FIFO has room, or the
   *     peer is gone
   */
  public boolean wake() {
    return write(FifoHeader.WAKEUP);
  }

  /** Notifies the peer that this side has closed the connection. */
  public void notifyClosed() {
    write(FifoHeader.CLOSED);
  }

  /** Notifies the peer, whose thread may sleep, of fragments of remote memory access. */
  public void notifyFragments() {
    write(FifoHeader.RMA);
  }

  /** Notifies the sleeping peer that fragments of its own are complete. */
  public void notifyFragmentsDone() {
    write(FifoHeader.RMA_ACK);
  }

  /** Sends a keepalive. */
  void sendKeepalive() {
    write(FifoHeader.KEEPALIVE);
  }

  /** Answers a keepalive. */
  void answerKeepalive() {
    write(FifoHeader.KEEPALIVE_REPLY);
  }

  private boolean write(int type) {
    Fifo.Writer.Result result = fifo.write(headers[type]);
    if (result == Fifo.Writer.Result.FULL) {
      pending.accumulateAndGet(1 << type, Peer::union);
      onFull.run();
    }
    return result == Fifo.Writer.Result.WRITTEN;
  }

  private static int union(int some, int others) {
    return some | others;
  }

  /** Writes the headers that found the FIFO full; returns whether none of them is left. */
  boolean writePending() {
    for (int types = pending.getAndSet(0); types != 0; types &= types - 1) {
      int type = Integer.numberOfTrailingZeros(types);
      if (fifo.write(headers[type]) == Fifo.Writer.Result.FULL) {
        pending.accumulateAndGet(types, Peer::union);
        return false;
      }
    }
    return true;
  }

  /** Returns the FIFO's descriptor, of which epoll reports an error when the peer is gone. */
  int fd() {
    return fifo.fd();
  }

  @Override
  public void close() {
    fifo.close();
  }
}
