// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.posix.Errno;
import dev.ferrule.verbs.AccessFlags;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.QueuePairSizes;
import dev.ferrule.verbs.calls.VerbsCalls;
import dev.ferrule.verbs.libibverbs.ibv_async_event;
import dev.ferrule.verbs.libibverbs.ibv_comp_channel;
import dev.ferrule.verbs.libibverbs.ibv_context;
import dev.ferrule.verbs.libibverbs.ibv_cq;
import dev.ferrule.verbs.libibverbs.ibv_device;
import dev.ferrule.verbs.libibverbs.ibv_device_attr;
import dev.ferrule.verbs.libibverbs.ibv_mr;
import dev.ferrule.verbs.libibverbs.ibv_pd;
import dev.ferrule.verbs.libibverbs.ibv_port_attr;
import dev.ferrule.verbs.libibverbs.ibv_qp;
import dev.ferrule.verbs.libibverbs.ibv_qp_attr;
import dev.ferrule.verbs.libibverbs.ibv_qp_cap;
import dev.ferrule.verbs.libibverbs.ibv_qp_init_attr;
import dev.ferrule.verbs.libibverbs.ibv_srq;
import dev.ferrule.verbs.libibverbs.ibv_srq_attr;
import dev.ferrule.verbs.libibverbs.ibv_srq_init_attr;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Simulates libibverbs with one device, which has one port with the address 127.0.0.1. The methods
 * are called under the fabric's monitor.
 */
final class SimulatedVerbs implements VerbsCalls {

  static final String DEVICE = "simulated0";
  static final int READS = 16;

  private static final int MAX_SIZE = 1 << 14; // of each kind of queue
  private static final int MAX_INLINE = 256;
  private static final int TYPE_RC = 2;
  private static final int MASK_STATE = 1;
  private static final int MASK_MIN_RNR_TIMER = 1 << 15;
  private static final int STATE_ERROR = 6;
  private static final byte[] GID = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 127, 0, 0, 1};

  private final SimulatedFabric fabric;
  private final FabricObjects objects;
  private final long device;
  private final ContextState cmContext;
  private int lastQueuePair = 16;
  private int lastKey = 0x1000;

  SimulatedVerbs(SimulatedFabric fabric, FabricObjects objects) {
    this.fabric = fabric;
    this.objects = objects;
    this.device = objects.allocate(ibv_device.sizeof()).address();
    this.cmContext = context(false);
  }

  private ContextState context(boolean opened) {
    return objects.add(new ContextState(objects.allocate(ibv_context.sizeof()), device, opened));
  }

  /** Returns the context that librdmacm has opened. */
  ContextState cmContext() {
    return cmContext;
  }

  /** Returns whether a poll of a queue would find nothing. Without the monitor. */
  boolean isEmpty(long queue) {
    return objects.find(queue) instanceof CompletionQueueState found && found.isEmpty();
  }

  @Override
  public long getDeviceList(MemorySegment count) {
    MemorySegment list = objects.allocate(Long.BYTES);
    list.set(ValueLayout.JAVA_LONG, 0, device);
    count.set(ValueLayout.JAVA_INT, 0, 1);
    return list.address();
  }

  @Override
  public void freeDeviceList(long list) {
    // the list is freed with the fabric
  }

  @Override
  public String getDeviceName(long ofDevice) {
    return DEVICE;
  }

  @Override
  public long openDevice(long ofDevice) {
    return context(true).address();
  }

  @Override
  public int closeDevice(long context) {
    ContextState state = objects.get(context, ContextState.class);
    int result = objects.destroy(state);
    if (result == 0) {
      state.close();
    }
    return result;
  }

  @Override
  public int queryDevice(long context, MemorySegment attributes) {
    objects.get(context, ContextState.class);
    ibv_device_attr.max_mr_size(attributes, Long.MAX_VALUE);
    ibv_device_attr.max_qp(attributes, MAX_SIZE);
    ibv_device_attr.max_qp_wr(attributes, MAX_SIZE);
    ibv_device_attr.max_sge(attributes, QueuePairState.MAX_PIECES);
    ibv_device_attr.max_cq(attributes, MAX_SIZE);
    ibv_device_attr.max_cqe(attributes, MAX_SIZE);
    ibv_device_attr.max_mr(attributes, 1 << 20);
    ibv_device_attr.max_srq(attributes, MAX_SIZE);
    ibv_device_attr.max_srq_wr(attributes, MAX_SIZE);
    ibv_device_attr.atomic_cap(attributes, 1);
    ibv_device_attr.max_qp_rd_atom(attributes, READS);
    ibv_device_attr.max_qp_init_rd_atom(attributes, READS);
    ibv_device_attr.phys_port_cnt(attributes, (byte) 1);
    return 0;
  }

  @Override
  public int queryPort(long context, int port, MemorySegment attributes) {
    objects.get(context, ContextState.class);
    if (port != 1) {
      return -Errno.EINVAL;
    }
    ibv_port_attr.state(attributes, 4);
    ibv_port_attr.active_mtu(attributes, 3);
    ibv_port_attr.max_msg_sz(attributes, 1 << 30);
    ibv_port_attr.gid_tbl_len(attributes, 1);
    ibv_port_attr.link_layer(attributes, (byte) 2);
    return 0;
  }

  @Override
  public int queryGid(long context, int port, int index, MemorySegment gid) {
    if (index != 0) {
      return -Errno.EINVAL;
    }
    gid.copyFrom(MemorySegment.ofArray(GID));
    return 0;
  }

  @Override
  public long allocPd(long context) {
    ContextState of = objects.get(context, ContextState.class);
    of.users++;
    return objects.add(new DomainState(objects.allocate(ibv_pd.sizeof()), of)).address();
  }

  @Override
  public int deallocPd(long protectionDomain) {
    DomainState state = objects.get(protectionDomain, DomainState.class);
    int result = objects.destroy(state);
    if (result == 0) {
      state.context.users--;
    }
    return result;
  }

  @Override
  public long regMr(long protectionDomain, long address, long length, int access) {
    return regMrIova(protectionDomain, address, length, address, access);
  }

  /**
   * Registers memory. An access right by which the peer may change the memory requires LOCAL_WRITE.
   */
  @Override
  public long regMrIova(
      long protectionDomain, long address, long length, long deviceAddress, int access) {
    DomainState domain = objects.get(protectionDomain, DomainState.class);
    int changes = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC;
    if ((access & changes) != 0 && (access & AccessFlags.LOCAL_WRITE) == 0) {
      return -Errno.EINVAL;
    }
    lastKey += 2;
    RegionState region =
        new RegionState(
            objects.allocate(ibv_mr.sizeof()),
            domain,
            address,
            length,
            deviceAddress,
            access,
            lastKey);
    domain.add(region);
    return objects.add(region).address();
  }

  @Override
  public int deregMr(long memoryRegion) {
    RegionState region = objects.get(memoryRegion, RegionState.class);
    region.domain.remove(region);
    region.domain.users--;
    return objects.destroy(region);
  }

  @Override
  public long createCompChannel(long context) {
    objects.get(context, ContextState.class);
    return objects
        .add(new CompletionChannelState(objects.allocate(ibv_comp_channel.sizeof())))
        .address();
  }

  @Override
  public int destroyCompChannel(long channel) {
    CompletionChannelState state = objects.get(channel, CompletionChannelState.class);
    int result = objects.destroy(state);
    if (result == 0) {
      state.events.close();
    }
    return result;
  }

  /** Does not wait: the channel's descriptor is non-blocking. */
  @Override
  public int getCqEvent(long channel, MemorySegment queue, MemorySegment context) {
    CompletionQueueState next = objects.get(channel, CompletionChannelState.class).events.poll();
    if (next == null) {
      return -Errno.EAGAIN;
    }
    next.unacknowledged++;
    queue.set(ValueLayout.JAVA_LONG, 0, next.address());
    context.set(ValueLayout.JAVA_LONG, 0, next.key);
    return 0;
  }

  @Override
  public void ackCqEvents(long queue, int count) {
    objects.acknowledge(objects.get(queue, CompletionQueueState.class), count);
  }

  @Override
  public long createCq(long context, int entries, long queueContext, long channel, int vector) {
    ContextState of = objects.get(context, ContextState.class);
    if (entries < 1 || entries > MAX_SIZE) {
      return -Errno.EINVAL;
    }
    CompletionChannelState events =
        channel == 0 ? null : objects.get(channel, CompletionChannelState.class);
    if (events != null) {
      events.users++;
    }
    return objects
        .add(
            new CompletionQueueState(
                objects.allocate(ibv_cq.sizeof()), of, events, entries, queueContext))
        .address();
  }

  @Override
  public int destroyCq(long queue) {
    CompletionQueueState state = objects.get(queue, CompletionQueueState.class);
    int result = objects.destroy(state);
    if (result == 0) {
      fabric.countOverflows(state.overflows());
      state.context.forget(state);
      if (state.channel != null) {
        state.channel.users--;
        List<CompletionQueueState> ignored = state.channel.events.remove(event -> event == state);
      }
    }
    return result;
  }

  @Override
  public long createSrq(long protectionDomain, MemorySegment attributes) {
    DomainState domain = objects.get(protectionDomain, DomainState.class);
    MemorySegment sizes = ibv_srq_init_attr.attr(attributes);
    int receives = ibv_srq_attr.max_wr(sizes);
    int pieces = ibv_srq_attr.max_sge(sizes);
    if (receives < 1 || receives > MAX_SIZE || pieces > QueuePairState.MAX_PIECES) {
      return -Errno.EINVAL;
    }
    return objects
        .add(
            new SharedReceivesState(
                objects.allocate(ibv_srq.sizeof()), domain, new PostedReceives(receives, pieces)))
        .address();
  }

  @Override
  public int destroySrq(long queue) {
    SharedReceivesState state = objects.get(queue, SharedReceivesState.class);
    int result = objects.destroy(state);
    if (result == 0) {
      state.domain.users--;
      state.domain.context.forget(state);
    }
    return result;
  }

  /**
   * Creates a queue pair for rdma_create_qp, in the state INIT.
   *
   * @return null if a size is not supported
   */
  @Nullable QueuePairState createQueuePair(long protectionDomain, MemorySegment attributes) {
    MemorySegment capacities = ibv_qp_init_attr.cap(attributes);
    int sends = ibv_qp_cap.max_send_wr(capacities);
    int receives = ibv_qp_cap.max_recv_wr(capacities);
    int inline = ibv_qp_cap.max_inline_data(capacities);
    if (ibv_qp_init_attr.qp_type(attributes) != TYPE_RC
        || Math.max(sends, receives) > MAX_SIZE
        || ibv_qp_cap.max_send_sge(capacities) > QueuePairState.MAX_PIECES
        || inline > MAX_INLINE) {
      return null;
    }
    long shared = ibv_qp_init_attr.srq(attributes).address();
    lastQueuePair++;
    return objects.add(
        new QueuePairState(
            objects.allocate(ibv_qp.sizeof()),
            fabric,
            lastQueuePair,
            objects.get(protectionDomain, DomainState.class),
            completionQueue(ibv_qp_init_attr.send_cq(attributes)),
            completionQueue(ibv_qp_init_attr.recv_cq(attributes)),
            shared == 0 ? null : objects.get(shared, SharedReceivesState.class),
            new QueuePairSizes(sends, receives, inline)));
  }

  private CompletionQueueState completionQueue(MemorySegment queue) {
    return objects.get(queue.address(), CompletionQueueState.class);
  }

  /** Moves the queue pair to the error state, or sets the RNR timer of a connected queue pair. */
  @Override
  public int modifyQp(long queuePair, MemorySegment attributes, int mask) {
    QueuePairState state = objects.get(queuePair, QueuePairState.class);
    if (mask == MASK_STATE && ibv_qp_attr.qp_state(attributes) == STATE_ERROR) {
      state.toError(null);
      return 0;
    }
    return mask == MASK_MIN_RNR_TIMER && state.isConnected() ? 0 : -Errno.EINVAL;
  }

  @Override
  public int getAsyncEvent(long context, MemorySegment event) {
    return objects.get(context, ContextState.class).next(event);
  }

  @Override
  public void ackAsyncEvent(MemorySegment event) {
    int type = ibv_async_event.event_type(event);
    if (type >= AsyncEvent.Type.DEVICE_FATAL.ordinal()
        && type <= AsyncEvent.Type.SUBNET_MANAGER_CHANGE.ordinal()) {
      return; // an event of a port
    }
    long element = event.get(ValueLayout.JAVA_LONG, ibv_async_event.element$offset());
    objects.acknowledge(objects.get(element, FabricObject.class), 1);
  }

  private static void check(MemorySegment function, long expected) {
    if (function.address() != expected) {
      throw new AssertionError(
          "%x is called instead of %x".formatted(function.address(), expected));
    }
  }

  @Override
  public int postSend(MemorySegment function, long queuePair, long request, long bad) {
    check(function, ContextState.POST_SEND);
    return objects.get(queuePair, QueuePairState.class).postSends(request, bad);
  }

  @Override
  public int postRecv(MemorySegment function, long queuePair, long request, long bad) {
    check(function, ContextState.POST_RECV);
    return objects.get(queuePair, QueuePairState.class).postReceives(request, bad);
  }

  @Override
  public int postSrqRecv(MemorySegment function, long queue, long request, long bad) {
    check(function, ContextState.POST_SRQ_RECV);
    return objects.get(queue, SharedReceivesState.class).receives.post(request, bad);
  }

  @Override
  public int pollCq(MemorySegment function, long queue, int count, long completions) {
    check(function, ContextState.POLL_CQ);
    return objects.get(queue, CompletionQueueState.class).poll(count, completions);
  }

  @Override
  public int reqNotifyCq(MemorySegment function, long queue, int solicitedOnly) {
    check(function, ContextState.REQ_NOTIFY_CQ);
    objects.get(queue, CompletionQueueState.class).request(solicitedOnly != 0);
    return 0;
  }
}
