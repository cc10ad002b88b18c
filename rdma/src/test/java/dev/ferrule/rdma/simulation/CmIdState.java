// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.rdma.simulation.FabricScheduler.Step;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.librdmacm.rdma_addr;
import dev.ferrule.verbs.librdmacm.rdma_cm_id;
import dev.ferrule.verbs.librdmacm.rdma_route;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * An id of the connection manager: its state, and the messages that are on their way to it, in
 * order.
 */
final class CmIdState extends FabricObject {

  /** The states of an id, both of the client and of the server. */
  enum Phase {
    NEW,
    ADDRESS_RESOLVED,
    ROUTE_RESOLVED,
    LISTENING,
    /** The client has sent its request. */
    REQUESTING,
    /** The client has received an answer, and has not taken its event. */
    ANSWERED,
    /** The server has a request to answer. */
    REQUESTED,
    /** The server has accepted, and the client has not confirmed. */
    ACCEPTED,
    CONNECTED,
    DISCONNECTING,
    PEER_DISCONNECTED,
    ENDED
  }

  /** A message to the id. A disconnection arrives after the messages of the peer's queue pair. */
  private record Message(boolean afterReceives, Runnable action) {}

  final CmChannelState channel;
  Phase phase = Phase.NEW;
  int backlog;
  InetSocketAddress local = new InetSocketAddress(0);
  InetSocketAddress remote = new InetSocketAddress(0);
  @Nullable ContextState context; // when it is bound to a device
  @Nullable QueuePairState queuePair;
  @Nullable CmIdState peer;
  @Nullable ConnectionRequest request; // of the client
  private final ArrayDeque<Message> arriving = new ArrayDeque<>();
  final Step step = new Step(StepKind.CONNECTION, this::canArrive, this::arrive);

  /** The message by which a side connects or accepts. */
  record ConnectionRequest(byte[] data, int readsAsTarget, int readsAsInitiator, int rnrRetries) {}

  CmIdState(MemorySegment structure, CmChannelState channel) {
    super(structure);
    this.channel = channel;
    rdma_cm_id.channel(structure, channel.structure);
    channel.users++;
  }

  void bind(ContextState to) {
    context = to;
    rdma_cm_id.verbs(structure, to.structure);
  }

  void setLocal(InetSocketAddress address) {
    local = address;
    SocketAddress.write(address, rdma_addr.src_storage(addresses()));
  }

  void setRemote(InetSocketAddress address) {
    remote = address;
    SocketAddress.write(address, rdma_addr.dst_storage(addresses()));
  }

  private MemorySegment addresses() {
    return rdma_route.addr(rdma_cm_id.route(structure));
  }

  void send(Runnable action) {
    arriving.add(new Message(false, action));
  }

  void sendAfterReceives(Runnable action) {
    arriving.add(new Message(true, action));
  }

  private boolean canArrive() {
    Message next = arriving.peek();
    return next != null && (!next.afterReceives || queuePair == null || !queuePair.isReceiving());
  }

  private void arrive() {
    arriving.remove().action.run();
  }

  void report(CmEvent.Type type, int status) {
    report(type, status, new byte[0], 0, () -> {});
  }

  /** Adds an event with private data, padded to the length of its field. */
  void report(CmEvent.Type type, int status, byte[] data, int field, Runnable taken) {
    byte[] padded = Arrays.copyOf(data, field);
    channel.events.add(new CmChannelState.Event(type, status, this, null, padded, taken));
  }
}
