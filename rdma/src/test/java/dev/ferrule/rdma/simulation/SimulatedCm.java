// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.RawMemory;
import dev.ferrule.rdma.simulation.CmIdState.ConnectionRequest;
import dev.ferrule.rdma.simulation.CmIdState.Phase;
import dev.ferrule.verbs.calls.CmCalls;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.ConnectionParameters;
import dev.ferrule.verbs.librdmacm.rdma_cm_event;
import dev.ferrule.verbs.librdmacm.rdma_cm_id;
import dev.ferrule.verbs.librdmacm.rdma_conn_param;
import dev.ferrule.verbs.librdmacm.rdma_event_channel;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Simulates librdmacm and the kernel's connection manager, between the ids of one fabric. Addresses
 * are those of the loopback interface. The methods are called under the fabric's monitor.
 */
final class SimulatedCm implements CmCalls {

  private static final int REASON_TIMEOUT = 4;
  private static final int REASON_NO_LISTENER = 8;
  private static final int OPTION_REUSE_ADDRESS = 1;
  private static final int OPTION_ACK_TIMEOUT = 3;
  private static final int FIRST_PORT = 20_000;
  private static final byte[] NO_DATA = {};

  /** The states in which rdma_disconnect only moves the queue pair to the error state. */
  private static final Set<Phase> WITHOUT_CONNECTION =
      EnumSet.of(Phase.NEW, Phase.ADDRESS_RESOLVED, Phase.ROUTE_RESOLVED, Phase.LISTENING);

  /** The event by which the next connect request ends, instead of reaching a listener. */
  private record Ending(CmEvent.Type type, int status) {}

  private final SimulatedFabric fabric;
  private final FabricObjects objects;
  private final SimulatedVerbs verbs;
  private int lastPort = FIRST_PORT;
  private @Nullable Ending ending;

  SimulatedCm(SimulatedFabric fabric, FabricObjects objects, SimulatedVerbs verbs) {
    this.fabric = fabric;
    this.objects = objects;
    this.verbs = verbs;
  }

  void endNextRequest(CmEvent.Type type, int status) {
    ending = new Ending(type, status);
  }

  private CmIdState id(long address) {
    return objects.get(address, CmIdState.class);
  }

  @Override
  public long createEventChannel() {
    return objects.add(new CmChannelState(objects.allocate(rdma_event_channel.sizeof()))).address();
  }

  @Override
  public void destroyEventChannel(long channel) {
    CmChannelState state = objects.get(channel, CmChannelState.class);
    if (objects.destroy(state) == 0) {
      state.events.close();
    }
  }

  @Override
  public long createId(long channel) {
    return createId(objects.get(channel, CmChannelState.class)).address();
  }

  private CmIdState createId(CmChannelState channel) {
    CmIdState id = objects.add(new CmIdState(objects.allocate(rdma_cm_id.sizeof()), channel));
    fabric.scheduler().add(id.step);
    return id;
  }

  /** Rejects, gives up or disconnects the connection of the id. Drops events that are not taken. */
  @Override
  public int destroyId(long address) {
    CmIdState id = id(address);
    if (id.queuePair != null) {
      throw new AssertionError("an id is destroyed before its queue pair");
    }
    leave(id);
    List<CmChannelState.Event> removed =
        id.channel.events.remove(event -> event.id() == id || event.listener() == id);
    for (CmChannelState.Event event : removed) {
      if (event.listener() == id) {
        int ignored =
            destroyId(event.id().address()); // the id of a request that has not been taken
      }
    }
    int result = objects.destroy(id);
    if (result == 0) {
      fabric.scheduler().remove(id.step);
      id.channel.users--;
    }
    return result;
  }

  private void leave(CmIdState id) {
    CmIdState peer = id.peer;
    Phase phase = id.phase;
    id.phase = Phase.ENDED;
    if (peer == null) {
      return;
    }
    switch (phase) {
      case REQUESTED, ACCEPTED ->
          peer.send(() -> rejected(peer, CmEvent.REJECTED_BY_CONSUMER, NO_DATA));
      case REQUESTING -> peer.send(() -> givenUp(peer, REASON_TIMEOUT));
      case ANSWERED -> peer.send(() -> givenUp(peer, CmEvent.REJECTED_BY_CONSUMER));
      case CONNECTED -> peer.sendAfterReceives(() -> peerDisconnected(peer));
      case PEER_DISCONNECTED -> peer.send(() -> disconnectAnswered(peer));
      default -> {}
    }
  }

  /**
   * Delivers a rejection to the client. librdmacm moves the queue pair to the error state when the
   * event is taken.
   */
  private static void rejected(CmIdState client, int reason, byte[] data) {
    Set<Phase> phases = EnumSet.of(Phase.REQUESTING, Phase.ANSWERED, Phase.CONNECTED);
    if (phases.contains(client.phase)) {
      client.phase = Phase.ENDED;
      client.report(
          CmEvent.Type.REJECTED,
          reason,
          data,
          ConnectionParameters.MAX_REJECT_DATA,
          () -> toError(client));
    }
  }

  /** Handles a client that has given up. The server gets an event only if it has accepted. */
  private static void givenUp(CmIdState server, int reason) {
    if (server.phase == Phase.ACCEPTED) {
      server.report(CmEvent.Type.REJECTED, reason, NO_DATA, 0, () -> toError(server));
    }
    server.phase = Phase.ENDED;
  }

  private static void peerDisconnected(CmIdState id) {
    if (EnumSet.of(Phase.CONNECTED, Phase.ACCEPTED, Phase.DISCONNECTING).contains(id.phase)) {
      id.phase = Phase.PEER_DISCONNECTED;
      id.report(CmEvent.Type.DISCONNECTED, 0);
    }
  }

  private static void disconnectAnswered(CmIdState id) {
    if (id.phase == Phase.DISCONNECTING) {
      id.phase = Phase.ENDED;
      id.report(CmEvent.Type.DISCONNECTED, 0);
      id.send(() -> id.report(CmEvent.Type.TIMEWAIT_EXIT, 0));
    }
  }

  private static void toError(CmIdState id) {
    if (id.queuePair != null) {
      id.queuePair.toError(null);
    }
  }

  private @Nullable CmIdState listener(InetSocketAddress address) {
    return objects.all(CmIdState.class).stream()
        .filter(id -> id.phase == Phase.LISTENING && id.local.getPort() == address.getPort())
        .filter(id -> isWildcard(id.local) || isWildcard(address) || id.local.equals(address))
        .findAny()
        .orElse(null);
  }

  private static boolean isWildcard(InetSocketAddress address) {
    return address.getAddress().isAnyLocalAddress();
  }

  @Override
  public int bindAddr(long address, MemorySegment memory) {
    CmIdState id = id(address);
    InetSocketAddress where = SocketAddress.read(memory);
    if (!isWildcard(where) && !where.getAddress().isLoopbackAddress()) {
      return -Errno.EADDRNOTAVAIL;
    }
    int port = where.getPort() == 0 ? ++lastPort : where.getPort();
    InetSocketAddress bound = new InetSocketAddress(where.getAddress(), port);
    if (listener(bound) != null) {
      return -Errno.EADDRINUSE;
    }
    id.setLocal(bound);
    if (!isWildcard(where)) {
      id.bind(verbs.cmContext());
    }
    return 0;
  }

  @Override
  public int listen(long address, int backlog) {
    CmIdState id = id(address);
    if (listener(id.local) != null) {
      return -Errno.EADDRINUSE;
    }
    id.backlog = backlog;
    id.phase = Phase.LISTENING;
    return 0;
  }

  @Override
  public short getSrcPort(long address) {
    return Short.reverseBytes((short) id(address).local.getPort());
  }

  @Override
  public int resolveAddr(long address, MemorySegment destination, int timeoutMillis) {
    CmIdState id = id(address);
    InetSocketAddress to = SocketAddress.read(destination);
    id.setRemote(to);
    if (!to.getAddress().isLoopbackAddress()) {
      return -Errno.ENODEV;
    }
    id.send(() -> {
      id.bind(verbs.cmContext());
      id.setLocal(new InetSocketAddress(to.getAddress(), ++lastPort));
      id.phase = Phase.ADDRESS_RESOLVED;
      id.report(CmEvent.Type.ADDRESS_RESOLVED, 0);
    });
    return 0;
  }

  @Override
  public int resolveRoute(long address, int timeoutMillis) {
    CmIdState id = id(address);
    if (id.phase != Phase.ADDRESS_RESOLVED) {
      return -Errno.EINVAL;
    }
    id.send(() -> {
      id.phase = Phase.ROUTE_RESOLVED;
      id.report(CmEvent.Type.ROUTE_RESOLVED, 0);
    });
    return 0;
  }

  @Override
  public int createQp(long address, long protectionDomain, MemorySegment attributes) {
    CmIdState id = id(address);
    QueuePairState created =
        id.context == null || id.queuePair != null
            ? null
            : verbs.createQueuePair(protectionDomain, attributes);
    if (created == null) {
      return -Errno.EINVAL;
    }
    id.queuePair = created;
    rdma_cm_id.qp(id.structure, created.structure);
    return 0;
  }

  @Override
  public void destroyQp(long address) {
    CmIdState id = id(address);
    QueuePairState queuePair = id.queuePair;
    if (queuePair == null) {
      throw new AssertionError("the id has no queue pair to destroy");
    }
    id.queuePair = null;
    rdma_cm_id.qp(id.structure, MemorySegment.NULL);
    queuePair.destroy(fabric.dropsCompletions());
    objects.destroy(queuePair);
  }

  private static ConnectionRequest request(MemorySegment parameters) {
    int length = rdma_conn_param.private_data_len(parameters) & 0xff;
    byte[] data =
        length == 0
            ? NO_DATA
            : RawMemory.bytes(rdma_conn_param.private_data(parameters).address(), length);
    return new ConnectionRequest(
        data,
        Math.min(rdma_conn_param.responder_resources(parameters) & 0xff, SimulatedVerbs.READS),
        Math.min(rdma_conn_param.initiator_depth(parameters) & 0xff, SimulatedVerbs.READS),
        rdma_conn_param.rnr_retry_count(parameters) & 0xff);
  }

  @Override
  public int connect(long address, MemorySegment parameters) {
    CmIdState client = id(address);
    ConnectionRequest request = request(parameters);
    if (client.phase != Phase.ROUTE_RESOLVED
        || client.queuePair == null
        || request.data().length > ConnectionParameters.MAX_REQUEST_DATA) {
      return -Errno.EINVAL;
    }
    client.phase = Phase.REQUESTING;
    client.request = request;
    client.send(() -> requestArrives(client, request));
    return 0;
  }

  private void requestArrives(CmIdState client, ConnectionRequest request) {
    Ending now = ending;
    CmIdState listener = listener(client.remote);
    if (now != null) {
      ending = null;
      client.phase = Phase.ENDED;
      client.report(now.type, now.status);
    } else if (listener == null) {
      rejected(client, REASON_NO_LISTENER, NO_DATA);
    } else if (listener.channel.events.count(event -> event.listener() == listener)
        >= Math.max(1, listener.backlog)) {
      rejected(client, CmEvent.REJECTED_BY_CONSUMER, NO_DATA);
    } else {
      CmIdState server = createId(listener.channel);
      server.phase = Phase.REQUESTED;
      server.bind(verbs.cmContext());
      server.setLocal(client.remote);
      server.setRemote(client.local);
      server.peer = client;
      client.peer = server;
      byte[] data = Arrays.copyOf(request.data(), ConnectionParameters.MAX_REQUEST_DATA);
      listener.channel.events.add(
          new CmChannelState.Event(
              CmEvent.Type.CONNECT_REQUEST, 0, server, listener, data, () -> {}));
    }
  }

  /**
   * Accepts; returns EINVAL if the client has given up. The queue pair is ready to send from now
   * on.
   */
  @Override
  public int accept(long address, MemorySegment parameters) {
    CmIdState server = id(address);
    ConnectionRequest answer = request(parameters);
    CmIdState client = server.peer;
    if (server.phase != Phase.REQUESTED
        || client == null
        || server.queuePair == null
        || server.queuePair.state != QueuePairState.State.INIT
        || answer.data().length > ConnectionParameters.MAX_ACCEPT_DATA) {
      return -Errno.EINVAL;
    }
    server.phase = Phase.ACCEPTED;
    if (client.queuePair != null && client.request != null) {
      connect(server.queuePair, client.queuePair, answer, client.request);
    }
    client.send(() -> acceptanceArrives(client, server, answer));
    return 0;
  }

  private static void connect(
      QueuePairState queuePair, QueuePairState to, ConnectionRequest own, ConnectionRequest peer) {
    queuePair.reads = Math.min(own.readsAsInitiator(), peer.readsAsTarget());
    queuePair.notReadyRetries = peer.rnrRetries();
    queuePair.connect(to);
  }

  private static void acceptanceArrives(
      CmIdState client, CmIdState server, ConnectionRequest answer) {
    if (client.phase == Phase.REQUESTING) {
      client.phase = Phase.ANSWERED;
      client.report(
          CmEvent.Type.ESTABLISHED,
          0,
          answer.data(),
          ConnectionParameters.MAX_ACCEPT_DATA,
          () -> acceptanceTaken(client, server, answer));
    }
  }

  /**
   * Handles the taking of an acceptance: librdmacm makes the client's queue pair ready, and
   * confirms.
   */
  private static void acceptanceTaken(
      CmIdState client, CmIdState server, ConnectionRequest answer) {
    QueuePairState own = client.queuePair;
    if (client.phase != Phase.ANSWERED || own == null || client.request == null) {
      return;
    }
    client.phase = Phase.CONNECTED;
    QueuePairState peer = server.queuePair;
    if (peer != null && own.state == QueuePairState.State.INIT) {
      connect(own, peer, client.request, answer);
    }
    own.confirmed = true;
    server.send(() -> {
      if (server.phase == Phase.ACCEPTED) {
        server.phase = Phase.CONNECTED;
        if (server.queuePair != null) {
          server.queuePair.confirmed = true;
        }
        server.report(CmEvent.Type.ESTABLISHED, 0);
      }
    });
  }

  @Override
  public int reject(long address, MemorySegment privateData, int length) {
    CmIdState server = id(address);
    CmIdState client = server.peer;
    if (server.phase != Phase.REQUESTED
        || client == null
        || length > ConnectionParameters.MAX_REJECT_DATA) {
      return -Errno.EINVAL;
    }
    server.phase = Phase.ENDED;
    byte[] data = RawMemory.bytes(privateData.address(), length);
    client.send(() -> rejected(client, CmEvent.REJECTED_BY_CONSUMER, data));
    return 0;
  }

  @Override
  public int disconnect(long address) {
    return disconnect(id(address));
  }

  int disconnect(CmIdState id) {
    toError(id);
    if (WITHOUT_CONNECTION.contains(id.phase)) {
      return -Errno.EINVAL;
    }
    CmIdState peer = id.peer;
    boolean cut = id.queuePair != null && id.queuePair.cut;
    if (peer != null && id.phase == Phase.CONNECTED) {
      id.phase = Phase.DISCONNECTING;
      if (!cut) {
        peer.sendAfterReceives(() -> peerDisconnected(peer));
      }
    } else if (peer != null && id.phase == Phase.PEER_DISCONNECTED) {
      id.phase = Phase.ENDED;
      peer.send(() -> disconnectAnswered(peer));
    }
    return 0;
  }

  /** Does not wait: the channel's descriptor is non-blocking. */
  @Override
  public long getCmEvent(long channel) {
    CmChannelState.Event next = objects.get(channel, CmChannelState.class).events.poll();
    if (next == null) {
      return -Errno.EAGAIN;
    }
    next.taken().run();
    MemorySegment event = objects.allocate(rdma_cm_event.sizeof());
    rdma_cm_event.event(event, next.type().ordinal());
    rdma_cm_event.status(event, next.status());
    rdma_cm_event.id(event, next.id().structure);
    if (next.listener() != null) {
      rdma_cm_event.listen_id(event, next.listener().structure);
    }
    if (next.data().length > 0) {
      MemorySegment data = objects.allocate(next.data().length);
      MemorySegment.copy(next.data(), 0, data, ValueLayout.JAVA_BYTE, 0, next.data().length);
      MemorySegment parameters = rdma_cm_event.param.conn(rdma_cm_event.param(event));
      rdma_conn_param.private_data(parameters, data);
      rdma_conn_param.private_data_len(parameters, (byte) next.data().length);
    }
    next.countedFor().unacknowledged++;
    return objects.add(new CmEventState(event, next.countedFor())).address();
  }

  @Override
  public int ackCmEvent(long event) {
    CmEventState state = objects.get(event, CmEventState.class);
    objects.acknowledge(state.countedFor, 1);
    return objects.destroy(state);
  }

  @Override
  public int setOption(long address, int level, int option, MemorySegment value) {
    id(address);
    return level == 0 && (option == OPTION_REUSE_ADDRESS || option == OPTION_ACK_TIMEOUT)
        ? 0
        : -Errno.ENOSYS;
  }

  /** Returns EINVAL if a request can no longer be accepted. */
  @Override
  public int initQpAttr(long address, MemorySegment attributes, MemorySegment mask) {
    return id(address).phase == Phase.ENDED ? -Errno.EINVAL : 0;
  }
}
