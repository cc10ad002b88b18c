// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.posix.Fifo;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.sm.endpoint.Endpoint;
import dev.ferrule.sm.endpoint.EndpointFiles;
import dev.ferrule.sm.endpoint.PassedMemory;
import dev.ferrule.sm.endpoint.Peer;
import dev.ferrule.sm.endpoint.SmAddress;
import dev.ferrule.sm.os.Knem;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.spi.ResolvedOptions;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.net.URI;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The resources of a connection: acquired step by step during the handshake, and released all at
 * once, at any stage.
 */
final class SmConnectionResources implements AutoCloseable {

  private final Endpoint endpoint;
  private final Facilities facilities;
  private final ResolvedOptions options;
  private final SealedFile.Limits limits;
  private final int id;
  private @Nullable SharedRing own;
  private @Nullable SharedRing peerRing;
  private @Nullable SmAddress peerAddress; // of its endpoint
  private Fifo.@Nullable Writer peerFifo;
  private @Nullable Peer peer; // has the FIFO
  private @Nullable SealedFile ownFile; // until the peer has it
  private final AtomicBoolean retirable = new AtomicBoolean(); // closed, and not retired yet

  /**
   * Allocates a number and a directory for a connection.
   *
   * @param endpoint this side's endpoint, which the caller has retained, and which is released with
   *     the resources or when their creation fails
   */
  SmConnectionResources(Endpoint endpoint, Facilities facilities, ResolvedOptions options)
      throws IOException {
    this.endpoint = endpoint;
    this.facilities = facilities;
    this.options = options;
    this.limits = SmOptions.limits(options);
    try {
      id = endpoint.newConnection();
    } catch (Throwable e) {
      endpoint.release();
      throw e;
    }
  }

  /**
   * Creates the memory from which this side receives; the generation is 0 if there is no peer yet.
   */
  SharedRing makeOwnRing(URI uri, long peerGeneration) {
    RingLayout layout = SmOptions.layout(uri, options);
    SharedRing.OnDemand more = SmOptions.onDemand(options);
    SealedFile file = SharedRing.createFile(layout, more);
    ownFile = file;
    SharedRing made =
        SharedRing.create(
            file,
            layout,
            more,
            SmOptions.hasReadiness(options),
            peerGeneration,
            facilities.exposingKnem(),
            new SealedFile.Limits(Long.MAX_VALUE, limits.process()));
    own = made;
    endpoint.describeConnection(id, SharedRing.allocatedSize(layout));
    return made;
  }

  /** Returns the file of that memory, to be passed to the peer. */
  SealedFile ownFile() {
    return there(ownFile);
  }

  /** Closes that file, which the peer has received and this side has mapped. */
  void closeOwnFile() {
    SealedFile file = ownFile;
    if (file != null) {
      file.close();
    }
  }

  /**
   * Maps the memory from which the peer receives; empty if it has no valid ring of this connection.
   * The caller closes its file.
   */
  Optional<SharedRing> attachPeerRing(
      PassedMemory memory, Predicate<RingLayout.Descriptor> isRight) {
    Optional<SharedRing> found = SharedRing.attach(memory, isRight, limits);
    found.ifPresent(ring -> peerRing = ring);
    return found;
  }

  /** Opens the FIFO of the peer's endpoint; fails with ENXIO or ENOENT if its process is gone. */
  void openFifo(SmAddress where) {
    peerFifo = EndpointFiles.openFifo(where.directory());
    peerAddress = where;
  }

  /** Returns whether the process whose FIFO was opened still has its endpoint. */
  boolean isPeerOpen() {
    return there(peerFifo).hasReader();
  }

  /** Sets the connection's number at the peer's endpoint. */
  void identifyPeer(int peerId) {
    peer = new Peer(there(peerFifo), peerId, endpoint::onFullFifo);
  }

  /** Allocates the buffer for fragments; fails with ENOMEM if there is no memory for it. */
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

  /** Returns the connection's number at this side's endpoint. */
  int id() {
    return id;
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

  /** Returns the peer's endpoint and the connection's number there, as text. */
  String peerName() {
    return there(peerAddress).endpoint() + "#" + peer().id();
  }

  private static <T> T there(@Nullable T step) {
    if (step == null) {
      throw new IllegalStateException("the connection is not established yet");
    }
    return step;
  }

  /** Releases all resources. Called once, for a connection that was never in use. */
  @Override
  public void close() {
    close(() -> false);
  }

  /**
   * Releases all resources. Called once. The memory is retired last. If a handler of the program is
   * processing a message in the memory, the handler's thread {@linkplain #retireIfClosed retires
   * it} afterwards.
   *
   * @param isSeen whether another thread is in such a handler
   */
  void close(BooleanSupplier isSeen) {
    try {
      try {
        endpoint.removeConnection(id);
      } finally {
        if (peer != null) {
          peer.close();
        } else if (peerFifo != null) {
          peerFifo.close();
        }
        closeOwnFile();
      }
      retirable.set(true);
      VarHandle.fullFence(); // the other side is in SmReceiver.endPolling
      if (!isSeen.getAsBoolean()) {
        retireIfClosed();
      }
    } finally {
      endpoint.release();
    }
  }

  /** Retires the memory if it is closed, once. By any thread. */
  void retireIfClosed() {
    if (!retirable.compareAndSet(true, false)) {
      return;
    }
    if (own != null) {
      own.discardBuffers();
      own.retire();
    }
    if (peerRing != null) {
      peerRing.retire();
    }
  }
}
