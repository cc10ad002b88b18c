// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.endpoint.Endpoint;
import dev.ferrule.sm.endpoint.PassedMemory;
import dev.ferrule.sm.endpoint.Peer;
import dev.ferrule.sm.endpoint.SmAddress;
import dev.ferrule.sm.os.Knem;
import dev.ferrule.sm.os.PosixException;
import dev.ferrule.sm.os.SealedFile;
import dev.ferrule.sm.ring.RingEnds;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.spi.ArenaCloser;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What a connection is made of: got step by step while the two sides agree, and given up all at
 * once, however far it has come.
 */
final class ConnectionResources implements AutoCloseable {

  private final Endpoint endpoint;
  private final Facilities facilities;
  private final int id;
  private final Arena views = Arena.ofShared(); // of what the program sees of the memory
  private @Nullable SharedRing own;
  private @Nullable SharedRing peerRing;
  private @Nullable Peer peer;
  private @Nullable SealedFile ownFile; // until the peer has it

  /**
   * Gets a number and a directory for a connection.
   *
   * @param endpoint this side's endpoint, which the caller has retained, and which is released with
   *     the resources or when there are none
   * @param facilities what the connection is made with
   */
  ConnectionResources(Endpoint endpoint, Facilities facilities) throws IOException {
    this.endpoint = endpoint;
    this.facilities = facilities;
    boolean done = false;
    try {
      id = endpoint.newConnection();
      done = true;
    } finally {
      if (!done) {
        views.close();
        endpoint.release();
      }
    }
  }

  /** Makes the memory from which this side receives. */
  SharedRing makeOwnRing(RingLayout layout, long peerGeneration, SharedRing.RmaSizes rma) {
    SealedFile file = SharedRing.createFile(layout, rma);
    ownFile = file;
    SharedRing made =
        SharedRing.create(file, layout, rma, peerGeneration, facilities.exposingKnem(), views);
    own = made;
    endpoint.describeConnection(id, SharedRing.allocatedSize(layout));
    return made;
  }

  /** The file of that memory, to be passed to the peer. */
  SealedFile ownFile() {
    return there(ownFile);
  }

  /** The peer has the file, and this side has it mapped. */
  void closeOwnFile() {
    SealedFile file = ownFile;
    if (file != null) {
      file.close();
    }
  }

  /**
   * Maps the memory from which the peer receives.
   *
   * @param memory its file, which the caller closes, and the process that has passed it
   * @param isRight whether it is of this connection
   * @return the peer's ring; empty if it is not right
   * @throws PosixException if it cannot be mapped
   */
  Optional<SharedRing> attachPeerRing(
      PassedMemory memory, Predicate<RingLayout.Descriptor> isRight) {
    Optional<SharedRing> found = SharedRing.attach(memory, isRight, views);
    found.ifPresent(ring -> peerRing = ring);
    return found;
  }

  /**
   * Opens the way to tell the peer something.
   *
   * @param where the peer's endpoint
   * @param peerId the connection's number there
   * @throws PosixException ENXIO or ENOENT if the peer's process is gone
   */
  void openPeer(SmAddress where, int peerId) {
    peer = new Peer(where, peerId, endpoint::onFullFifo);
  }

  /**
   * Allocates the buffer for fragments.
   *
   * @throws PosixException ENOMEM if there is no memory for it
   */
  void allocateRmaBuffer() {
    there(own).allocateRmaBuffer();
  }

  Endpoint endpoint() {
    return endpoint;
  }

  @Nullable Knem knem() {
    return facilities.knem();
  }

  @Nullable Knem exposingKnem() {
    return facilities.exposingKnem();
  }

  RingEnds ends() {
    return facilities.ends();
  }

  /** The connection's number at this side's endpoint. */
  int id() {
    return id;
  }

  Arena views() {
    return views;
  }

  SharedRing own() {
    return there(own);
  }

  SharedRing peerRing() {
    return there(peerRing);
  }

  Peer peer() {
    return there(peer);
  }

  private static <T> T there(@Nullable T step) {
    if (step == null) {
      throw new IllegalStateException("the connection is not made yet");
    }
    return step;
  }

  /** Gives everything up. To be called once, by a connection that was never in use. */
  @Override
  public void close() {
    close(() -> false);
  }

  /**
   * Gives everything up. To be called once. The memory goes last: as soon as no handler of the
   * program's is in the middle of a message that lies in it.
   *
   * @param isSeen whether another thread is in such a handler
   */
  void close(BooleanSupplier isSeen) {
    try {
      endpoint.removeLink(id);
      if (peer != null) {
        peer.close();
      }
      closeOwnFile();
      endpoint.removeConnection(id);
      ArenaCloser.close(views, isSeen, this::retire);
    } finally {
      endpoint.release();
    }
  }

  private void retire() {
    if (own != null) {
      own.discardBuffer();
      own.retire();
    }
    if (peerRing != null) {
      peerRing.retire();
    }
  }
}
