// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.sm.os.Fifo;
import dev.ferrule.sm.os.PosixException;
import java.lang.foreign.MemorySegment;

/**
 * The other side of a connection, as far as it is told something by its endpoint's FIFO. Any number
 * of threads may use one; nothing here blocks, not even each other, or allocates.
 */
public final class Peer implements AutoCloseable {

  private final Fifo.Writer fifo;
  private final MemorySegment[] headers = new MemorySegment[FifoHeader.TYPES];

  /**
   * Opens the FIFO of a peer's endpoint.
   *
   * @param endpoint the endpoint's address
   * @param id the connection's number there
   * @throws PosixException if that is not possible; ENXIO or ENOENT if the peer's process is gone
   */
  public Peer(SmAddress endpoint, int id) {
    this.fifo = new Fifo.Writer(endpoint.directory().resolve(EndpointFiles.FIFO));
    for (int type = 0; type < headers.length; type++) {
      headers[type] = Fifo.Writer.prepare(FifoHeader.of(type, id));
    }
  }

  /**
   * Tells it, who sleeps, that there is something for it.
   *
   * @return whether it was told; if not, there is no room in its FIFO, or it is gone
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
    return fifo.write(headers[type]) == Fifo.Writer.Result.WRITTEN;
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
