// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.idle;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.RawMemory;
import dev.ferrule.posix.libc.LibC;
import dev.ferrule.rdma.connection.Hello;
import dev.ferrule.verbs.calls.CmCalls;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.librdmacm.rdma_cm_event;
import dev.ferrule.verbs.librdmacm.rdma_cm_id;
import dev.ferrule.verbs.librdmacm.rdma_conn_param;
import dev.ferrule.verbs.librdmacm.rdma_event_channel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A connection manager whose peer accepts each connection, with the parameters that the client has
 * offered.
 */
final class AcceptingManager {

  private static final int KIND_OFFSET = 5; // in a hello

  private final Arena arena = Arena.ofAuto();
  private final MemorySegment channel = rdma_event_channel.allocate(arena);
  private final MemorySegment id = rdma_cm_id.allocate(arena);
  private final int readable = LibC.eventfd(0, LibC.EFD_CLOEXEC() | LibC.EFD_NONBLOCK());
  private final Queue<Long> events = new ConcurrentLinkedQueue<>();
  private final IdleDeviceLibrary device;

  AcceptingManager(IdleDeviceLibrary device) {
    this.device = device;
    rdma_event_channel.fd(channel, readable);
    rdma_cm_id.verbs(id, MemorySegment.ofAddress(device.context()));
  }

  CmCalls calls() {
    return (CmCalls)
        Proxy.newProxyInstance(
            CmCalls.class.getClassLoader(),
            new Class<?>[] {CmCalls.class},
            (proxy, method, arguments) -> call(method, arguments));
  }

  private Object call(Method method, Object[] arguments) {
    switch (method.getName()) {
      case "createEventChannel" -> {
        return channel.address();
      }
      case "createId" -> {
        return id.address();
      }
      case "resolveAddr" -> emit(CmEvent.Type.ADDRESS_RESOLVED, new byte[0]);
      case "resolveRoute" -> emit(CmEvent.Type.ROUTE_RESOLVED, new byte[0]);
      case "createQp" -> {
        long queuePair = device.createQueuePair((MemorySegment) arguments[2]);
        rdma_cm_id.qp(id, MemorySegment.ofAddress(queuePair));
      }
      case "connect" -> emit(CmEvent.Type.ESTABLISHED, acceptance((MemorySegment) arguments[1]));
      case "getCmEvent" -> {
        return nextEvent();
      }
      default -> {} // nothing to do
    }
    return method.getReturnType() == void.class
        ? null
        : method.getReturnType() == short.class ? (Object) (short) 0 : (Object) 0;
  }

  private static byte[] acceptance(MemorySegment parameters) {
    byte[] hello =
        RawMemory.bytes(
            rdma_conn_param.private_data(parameters).address(),
            rdma_conn_param.private_data_len(parameters));
    hello[KIND_OFFSET] = (byte) Hello.Kind.ACCEPT.ordinal();
    return hello;
  }

  private void emit(CmEvent.Type type, byte[] privateData) {
    MemorySegment event = rdma_cm_event.allocate(arena);
    rdma_cm_event.event(event, type.ordinal());
    rdma_cm_event.id(event, id);
    if (privateData.length > 0) {
      MemorySegment parameters =
          event.asSlice(rdma_cm_event.param$offset(), rdma_conn_param.sizeof());
      rdma_conn_param.private_data(
          parameters, arena.allocateFrom(ValueLayout.JAVA_BYTE, privateData));
      rdma_conn_param.private_data_len(parameters, (byte) privateData.length);
    }
    events.add(event.address());
    try (Arena own = Arena.ofConfined()) {
      LibC.write(readable, own.allocateFrom(ValueLayout.JAVA_LONG, 1), Long.BYTES);
    }
  }

  /**
   * Returns the next event. Polls again after resetting the descriptor, or an event could be
   * missed.
   */
  private long nextEvent() {
    Long next = events.poll();
    if (next == null) {
      try (Arena own = Arena.ofConfined()) {
        LibC.read(readable, own.allocate(Long.BYTES), Long.BYTES);
      }
      next = events.poll();
    }
    return next == null ? -Errno.EAGAIN : next;
  }
}
