// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.RawMemory;
import dev.ferrule.rdma.simulation.WorkRequests.Receive;
import dev.ferrule.verbs.libibverbs.ibv_recv_wr;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A receive queue, of one queue pair or shared. A receive occupies an entry until its completion is
 * polled. Posting to a full queue returns ENOMEM; posting a request with too many elements returns
 * EINVAL.
 */
final class PostedReceives {

  private final int capacity;
  private final int maxPieces;
  private final ArrayDeque<Receive> posted = new ArrayDeque<>();
  private int outstanding;

  PostedReceives(int capacity, int maxPieces) {
    this.capacity = capacity;
    this.maxPieces = maxPieces;
  }

  /** Posts a list of requests, up to the first invalid one. */
  int post(long first, long bad) {
    for (long at = first; at != 0; at = RawMemory.getLong(at + ibv_recv_wr.next$offset())) {
      Receive receive = WorkRequests.receive(at);
      if (outstanding == capacity || receive.pieces().size() > maxPieces) {
        RawMemory.putLong(bad, at);
        return outstanding == capacity ? -Errno.ENOMEM : -Errno.EINVAL;
      }
      posted.add(receive);
      outstanding++;
    }
    return 0;
  }

  boolean isEmpty() {
    return posted.isEmpty();
  }

  /** Returns the next receive; null if none is posted. */
  @Nullable Receive take() {
    return posted.poll();
  }

  /** Frees an entry, when a completion has been polled or dropped. */
  void completed() {
    outstanding--;
  }
}
