// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;
import static org.mockito.Mockito.withSettings;

import dev.ferrule.verbs.calls.CmCalls;
import dev.ferrule.verbs.calls.VerbsCalls;
import dev.ferrule.verbs.libibverbs.ibv_comp_channel;
import dev.ferrule.verbs.libibverbs.ibv_context;
import dev.ferrule.verbs.libibverbs.ibv_context_ops;
import dev.ferrule.verbs.libibverbs.ibv_mr;
import dev.ferrule.verbs.libibverbs.ibv_qp;
import dev.ferrule.verbs.librdmacm.rdma_cm_id;
import dev.ferrule.verbs.librdmacm.rdma_event_channel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.mockito.invocation.InvocationOnMock;

/**
 * Mocks of the C functions, with the structures that the verbs layer reads. A function that a test
 * does not stub does nothing and returns 0, or {@code -errno} if the test has set {@link #errno}.
 */
public final class FakeDevice {

  /** The functions of the device: recognisable addresses that are never called. */
  public static final long POST_SEND = 0x1001;

  public static final long POST_RECV = 0x1002;
  public static final long POST_SRQ_RECV = 0x1003;
  public static final long POLL_CQ = 0x1004;
  public static final long REQ_NOTIFY_CQ = 0x1005;

  public final Arena arena = Arena.ofAuto();
  public final VerbsCalls verbs =
      mock(VerbsCalls.class, withSettings().defaultAnswer(this::answer));
  public final CmCalls cm = mock(CmCalls.class, withSettings().defaultAnswer(this::answer));
  public final VerbsLibrary library = VerbsLibrary.of(verbs, cm);

  /** The errno of all functions without a stub; 0 for success. */
  public int errno;

  private final MemorySegment contextMemory = ibv_context.allocate(arena);
  private final MemorySegment id = rdma_cm_id.allocate(arena);

  public FakeDevice() {
    MemorySegment ops = ibv_context.ops(contextMemory);
    ibv_context_ops.post_send(ops, MemorySegment.ofAddress(POST_SEND));
    ibv_context_ops.post_recv(ops, MemorySegment.ofAddress(POST_RECV));
    ibv_context_ops.post_srq_recv(ops, MemorySegment.ofAddress(POST_SRQ_RECV));
    ibv_context_ops.poll_cq(ops, MemorySegment.ofAddress(POLL_CQ));
    ibv_context_ops.req_notify_cq(ops, MemorySegment.ofAddress(REQ_NOTIFY_CQ));
    ibv_context.async_fd(contextMemory, 33);
  }

  private Object answer(InvocationOnMock call) {
    Class<?> type = call.getMethod().getReturnType();
    if (type == int.class) {
      return -errno;
    }
    if (type == long.class) {
      return (long) -errno;
    }
    if (type == short.class) {
      return (short) 0;
    }
    return null;
  }

  /** Makes the library list devices; their addresses are 1, 2 and so on, in this order. */
  public void list(String... names) {
    MemorySegment devices = arena.allocate(ValueLayout.JAVA_LONG, names.length + 1L);
    for (int i = 0; i < names.length; i++) {
      devices.setAtIndex(ValueLayout.JAVA_LONG, i, i + 1L);
    }
    when(verbs.getDeviceList(any()))
        .thenAnswer(call -> {
          call.<MemorySegment>getArgument(0).set(ValueLayout.JAVA_INT, 0, names.length);
          return devices.address();
        });
    when(verbs.getDeviceName(anyLong()))
        .thenAnswer(call -> List.of(names).get((int) (call.<Long>getArgument(0) - 1)));
  }

  /** Returns the address of the device's {@code ibv_context}. */
  public long contextAddress() {
    return contextMemory.address();
  }

  public MemorySegment contextMemory() {
    return contextMemory;
  }

  /** Returns a context that may be closed. */
  public VerbsContext context() {
    return new VerbsContext(verbs, contextMemory.address(), true);
  }

  public ProtectionDomain domain() {
    return new ProtectionDomain(context(), 0x2001);
  }

  public CompletionQueue completionQueue() {
    return new CompletionQueue(context(), 0x2002);
  }

  public SharedReceiveQueue sharedReceiveQueue() {
    return new SharedReceiveQueue(context(), 0x2003);
  }

  public CompletionChannel completionChannel() {
    MemorySegment channel = ibv_comp_channel.allocate(arena);
    ibv_comp_channel.fd(channel, 44);
    return new CompletionChannel(verbs, channel.address());
  }

  public QueuePair queuePair() {
    return new QueuePair(context(), queuePairMemory(), new QueuePairSizes(8, 8, 0));
  }

  public QueuePair queuePair(int number) {
    return new QueuePair(context(), queuePairMemory(number), new QueuePairSizes(8, 8, 0));
  }

  /** Returns the address of an {@code ibv_qp} with the number 77. */
  public long queuePairMemory() {
    return queuePairMemory(77);
  }

  private long queuePairMemory(int number) {
    MemorySegment queuePair = ibv_qp.allocate(arena);
    ibv_qp.qp_num(queuePair, number);
    return queuePair.address();
  }

  /** Makes registrations succeed, with the keys 5 and 6. */
  public long registrations() {
    MemorySegment region = ibv_mr.allocate(arena);
    ibv_mr.lkey(region, 5);
    ibv_mr.rkey(region, 6);
    when(verbs.regMr(anyLong(), anyLong(), anyLong(), anyInt())).thenReturn(region.address());
    return region.address();
  }

  /** Returns the {@code rdma_cm_id} of all created ids. */
  public MemorySegment id() {
    return id;
  }

  /** Makes the creation of event channels and ids succeed. */
  public void connectionManager() {
    MemorySegment channel = rdma_event_channel.allocate(arena);
    rdma_event_channel.fd(channel, 55);
    when(cm.createEventChannel()).thenReturn(channel.address());
    when(cm.createId(anyLong())).thenReturn(id.address());
  }
}
