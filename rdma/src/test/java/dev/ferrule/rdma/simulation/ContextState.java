// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.posix.Errno;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.libibverbs.ibv_async_event;
import dev.ferrule.verbs.libibverbs.ibv_context;
import dev.ferrule.verbs.libibverbs.ibv_context_ops;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The context of an open device, with its asynchronous events. */
final class ContextState extends FabricObject {

  /** The functions of the driver: recognisable addresses that are never called. */
  static final long POST_SEND = 0x1001;

  static final long POST_RECV = 0x1002;
  static final long POST_SRQ_RECV = 0x1003;
  static final long POLL_CQ = 0x1004;
  static final long REQ_NOTIFY_CQ = 0x1005;

  private record Event(AsyncEvent.Type type, @Nullable FabricObject element) {}

  private final boolean opened;
  private final ReadableQueue<Event> events = new ReadableQueue<>();

  /**
   * Creates a context.
   *
   * @param opened whether the program has opened the device; if not, librdmacm has
   */
  ContextState(MemorySegment structure, long device, boolean opened) {
    super(structure);
    this.opened = opened;
    ibv_context.device(structure, MemorySegment.ofAddress(device));
    ibv_context.async_fd(structure, events.descriptor());
    MemorySegment functions = ibv_context.ops(structure);
    ibv_context_ops.post_send(functions, MemorySegment.ofAddress(POST_SEND));
    ibv_context_ops.post_recv(functions, MemorySegment.ofAddress(POST_RECV));
    ibv_context_ops.post_srq_recv(functions, MemorySegment.ofAddress(POST_SRQ_RECV));
    ibv_context_ops.poll_cq(functions, MemorySegment.ofAddress(POLL_CQ));
    ibv_context_ops.req_notify_cq(functions, MemorySegment.ofAddress(REQ_NOTIFY_CQ));
  }

  @Override
  boolean isOwnedByProgram() {
    return opened;
  }

  /** Adds an event of an object, or of the port for null. */
  void report(AsyncEvent.Type type, @Nullable FabricObject element) {
    events.add(new Event(type, element));
  }

  int next(MemorySegment event) {
    Event next = events.poll();
    if (next == null) {
      return -Errno.EAGAIN;
    }
    ibv_async_event.event_type(event, next.type.ordinal());
    long element = 1; // the port
    if (next.element != null) {
      next.element.unacknowledged++;
      element = next.element.address();
    }
    event.set(ValueLayout.JAVA_LONG, ibv_async_event.element$offset(), element);
    return 0;
  }

  /** Removes the events of an object that is destroyed. */
  void forget(FabricObject object) {
    List<Event> ignored = events.remove(event -> event.element == object);
  }

  void close() {
    events.close();
  }
}
