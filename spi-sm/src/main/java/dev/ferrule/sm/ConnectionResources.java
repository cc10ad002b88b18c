// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.endpoint.Endpoint;
import dev.ferrule.sm.endpoint.EndpointFiles;
import dev.ferrule.sm.endpoint.Peer;
import dev.ferrule.sm.endpoint.SmAddress;
import dev.ferrule.sm.os.Knem;
import dev.ferrule.sm.os.MappedMemory;
import dev.ferrule.sm.os.PosixException;
import dev.ferrule.sm.os.SharedFile;
import dev.ferrule.sm.ring.RingEnds;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.spi.Unmapper;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
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
  private final Arena arena = Arena.ofShared(); // owns all mappings
  private @Nullable SharedRing own;
  private @Nullable SharedRing peerRing;
  private @Nullable Peer peer;
  private volatile @Nullable MemorySegment rmaBuffer;

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
        Unmapper.close(arena);
        endpoint.release();
      }
    }
  }

  /** Makes the files from which this side receives. */
  SharedRing makeOwnRing(RingLayout layout, long peerGeneration) {
    SharedRing made =
        SharedRing.create(
            endpoint.connectionDirectory(id), layout, peerGeneration, facilities.knem(), arena);
    own = made;
    return made;
  }

  /**
   * Maps the files from which the peer receives.
   *
   * @param where the peer's endpoint
   * @param peerId the connection's number there
   * @param isRight whether they are of this connection
   * @return the peer's ring; empty if there is none that is right
   */
  Optional<SharedRing> attachPeerRing(
      SmAddress where, int peerId, Predicate<RingLayout.Descriptor> isRight) {
    Optional<SharedRing> found =
        SharedRing.attach(EndpointFiles.connection(where.directory(), peerId), isRight, arena);
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

  /** Makes the file from which this side writes to the peer's memory, or reads into. */
  MemorySegment makeRmaBuffer(long size) {
    MemorySegment made =
        SharedFile.create(
            endpoint.connectionDirectory(id).resolve(EndpointFiles.RMA_BUFFER), size, arena);
    rmaBuffer = made;
    return made;
  }

  /** Whether none of the files that are mapped was truncated by the peer. Reads all of them. */
  boolean areFilesThere() {
    MemorySegment fragments = rmaBuffer;
    return there(own).isThere()
        && there(peerRing).isThere()
        && (fragments == null || MappedMemory.isThere(fragments, 0, fragments.byteSize()));
  }

  Endpoint endpoint() {
    return endpoint;
  }

  @Nullable Knem knem() {
    return facilities.knem();
  }

  RingEnds ends() {
    return facilities.ends();
  }

  /** The connection's number at this side's endpoint. */
  int id() {
    return id;
  }

  Arena arena() {
    return arena;
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

  /** Gives everything up. To be called once. */
  @Override
  public void close() {
    try {
      endpoint.removeLink(id);
      if (peer != null) {
        peer.close();
      }
      endpoint.removeConnection(id);
      Unmapper.close(arena);
    } finally {
      endpoint.release();
    }
  }
}
