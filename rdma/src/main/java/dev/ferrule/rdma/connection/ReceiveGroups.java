// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.Receiver;
import dev.ferrule.StandardOptions;
import dev.ferrule.rdma.context.RdmaContext;
import dev.ferrule.rdma.context.SharedDevice;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.support.ReadinessDescriptor;
import dev.ferrule.verbs.cm.CmId;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The resources for receiving that the connections of a listener share: a {@link ReceiveGroup} on
 * each device, and the receiver of all connections.
 *
 * <p><b>Threads:</b> any thread may call.
 */
final class ReceiveGroups {

  private final RdmaListener listener;
  private final RdmaProtocol protocol;
  private final RdmaContext rdmaContext;
  private final ResolvedOptions options;
  private final Map<SharedDevice, ReceiveGroup> groups = new HashMap<>(); // guarded by this
  private volatile ReceiveQueue[] queues = {}; // of the groups
  private @Nullable ListenerReceiver receiver; // guarded by this

  ReceiveGroups(
      RdmaListener listener,
      RdmaProtocol protocol,
      RdmaContext rdmaContext,
      ResolvedOptions options) {
    this.listener = listener;
    this.protocol = protocol;
    this.rdmaContext = rdmaContext;
    this.options = options;
  }

  /**
   * Returns the resources shared by the connections on a device, retained for the caller; null if
   * there are none. They are created for the first client, since the device is not known before.
   */
  @Nullable ReceiveGroup group(CmId client) {
    if (!protocol.sharesReceives(options) && !isSingleReceiver()) {
      return null;
    }
    SharedDevice device = rdmaContext.device(client);
    synchronized (this) {
      if (listener.isClosed()) {
        throw listener.closed();
      }
      ReceiveGroup group = groups.get(device);
      if (group == null) {
        group = new ReceiveGroup(protocol, rdmaContext, device, options);
        groups.put(device, group);
        findQueues();
        ListenerReceiver known = receiver;
        if (known != null) {
          group.collect(known.multiplexer());
          known.wake(); // so that it polls the new queue as well
        }
      }
      group.retain();
      return group;
    }
  }

  private boolean isSingleReceiver() {
    return RdmaOptions.isOn(options, RdmaOptions.SINGLE_RECEIVER);
  }

  /**
   * Returns the receiver of all connections.
   *
   * @param readiness shows its messages; null if the program does not use readiness
   */
  synchronized Receiver receiver(@Nullable ReadinessDescriptor readiness) {
    if (!isSingleReceiver()) {
      throw new IllegalStateException(
          "only a listener with the option singleReceiver=on receives for all its connections");
    }
    ListenerReceiver known = receiver;
    if (known == null) {
      ListenerReceiver made =
          new ListenerReceiver(listener, this, options.get(StandardOptions.WAIT));
      if (readiness != null) {
        made.receiver().showMessages(readiness);
      }
      groups.values().forEach(group -> group.collect(made.multiplexer()));
      receiver = made;
      known = made;
    }
    return known.receiver().checked();
  }

  private void findQueues() {
    queues = groups.values().stream().map(ReceiveGroup::queue).toArray(ReceiveQueue[]::new);
  }

  /**
   * Returns the queues that the connections share, one for each device. The caller must not modify
   * the array.
   */
  ReceiveQueue[] queues() {
    return queues;
  }

  /** Releases the groups, which their connections still retain, and ends the receiver. */
  synchronized void close() {
    groups.values().forEach(ReceiveGroup::release);
    groups.clear();
    findQueues();
    if (receiver != null) {
      receiver.close();
    }
  }
}
