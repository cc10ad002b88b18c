// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.RawMemory;
import dev.ferrule.verbs.calls.VerbsCalls;
import dev.ferrule.verbs.libibverbs.ibv_async_event;
import dev.ferrule.verbs.libibverbs.ibv_context;
import dev.ferrule.verbs.libibverbs.ibv_context_ops;
import dev.ferrule.verbs.libibverbs.ibv_device_attr;
import dev.ferrule.verbs.libibverbs.ibv_port_attr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The context of an open device ({@code ibv_context}), which creates the other objects.
 *
 * {@snippet lang=java :
 * try (VerbsContext context = VerbsLibrary.system().open("rxe0");
 *     ProtectionDomain domain = context.allocateProtectionDomain();
 *     MemoryRegion region = domain.allocate(4096, AccessFlags.LOCAL_WRITE)) {
 *   System.out.println(region.segment().byteSize() + " bytes with the key " + region.localKey());
 * }
 * }
 *
 * <p><b>Threads:</b> safe for use by several threads. One thread closes it, after all objects
 * created from it.
 */
public final class VerbsContext implements AutoCloseable {

  private static final int GID_BYTES = 16;

  private final VerbsCalls calls;
  private final long address;
  private final boolean owned;
  private final MemorySegment postSend;
  private final MemorySegment postRecv;
  private final MemorySegment postSrqRecv;
  private final MemorySegment pollCq;
  private final MemorySegment reqNotifyCq;

  VerbsContext(VerbsCalls calls, long address, boolean owned) {
    this.calls = calls;
    this.address = address;
    this.owned = owned;
    this.postSend = function(ibv_context_ops.post_send$offset());
    this.postRecv = function(ibv_context_ops.post_recv$offset());
    this.postSrqRecv = function(ibv_context_ops.post_srq_recv$offset());
    this.pollCq = function(ibv_context_ops.poll_cq$offset());
    this.reqNotifyCq = function(ibv_context_ops.req_notify_cq$offset());
  }

  private MemorySegment function(long offset) {
    return MemorySegment.ofAddress(RawMemory.getLong(address + ibv_context.ops$offset() + offset));
  }

  VerbsCalls calls() {
    return calls;
  }

  MemorySegment postSend() {
    return postSend;
  }

  MemorySegment postRecv() {
    return postRecv;
  }

  MemorySegment postSrqRecv() {
    return postSrqRecv;
  }

  MemorySegment pollCq() {
    return pollCq;
  }

  MemorySegment reqNotifyCq() {
    return reqNotifyCq;
  }

  /** {@return the address of the C object} */
  public long address() {
    return address;
  }

  /** {@return the name of the device, such as mlx5_0 or rxe0} */
  public String deviceName() {
    return calls.getDeviceName(RawMemory.getLong(address + ibv_context.device$offset()));
  }

  /**
   * Queries the limits of the device.
   *
   * @return the limits
   * @throws VerbsException if the device is gone
   */
  public DeviceAttributes attributes() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = ibv_device_attr.allocate(arena);
      VerbsException.check("ibv_query_device", "", calls.queryDevice(address, attributes));
      return DeviceAttributes.read(attributes);
    }
  }

  /**
   * Queries the state of a port.
   *
   * @param port its number, from 1
   * @return the state
   * @throws VerbsException if the device has no such port
   */
  public PortAttributes port(int port) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = ibv_port_attr.allocate(arena);
      VerbsException.check(
          "ibv_query_port", "port " + port, calls.queryPort(address, port, attributes));
      return PortAttributes.read(attributes);
    }
  }

  /**
   * Queries a global identifier (GID) of a port.
   *
   * @param port the port's number, from 1
   * @param index the index in the port's GID table, from 0
   * @return its 16 bytes
   * @throws VerbsException if the table has no such entry
   */
  public byte[] gid(int port, int index) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment gid = arena.allocate(GID_BYTES, Long.BYTES);
      VerbsException.check(
          "ibv_query_gid",
          "port " + port + ", index " + index,
          calls.queryGid(address, port, index, gid));
      return gid.toArray(ValueLayout.JAVA_BYTE);
    }
  }

  /**
   * Creates a protection domain.
   *
   * @return the domain, to be closed
   * @throws VerbsException if resources are exhausted
   */
  public ProtectionDomain allocateProtectionDomain() {
    return new ProtectionDomain(
        this, VerbsException.check("ibv_alloc_pd", "", calls.allocPd(address)));
  }

  /**
   * Creates a completion channel, which delivers the events of completion queues.
   *
   * @return the channel, to be closed
   * @throws VerbsException if resources are exhausted
   */
  public CompletionChannel createCompletionChannel() {
    return new CompletionChannel(
        calls,
        VerbsException.check("ibv_create_comp_channel", "", calls.createCompChannel(address)));
  }

  /**
   * Creates a completion queue, with completion vector 0. If it overflows, its queue pairs fail; so
   * it needs an entry for each request that may complete before the program polls: the signaled and
   * failed sends, and the receives, of all its queue pairs.
   *
   * @param entries the minimum number of completions ({@code cqe}), at least 1
   * @param channel the channel of its events, after {@link CompletionQueue#requestNotification a
   *     request}; or null
   * @param key the key that its events carry
   * @return the queue, to be closed
   * @throws VerbsException if the device supports fewer entries, or resources are exhausted
   */
  public CompletionQueue createCompletionQueue(
      int entries, @Nullable CompletionChannel channel, long key) {
    long queue = calls.createCq(address, entries, key, channel == null ? 0 : channel.address(), 0);
    return new CompletionQueue(
        this, VerbsException.check("ibv_create_cq", entries + " entries", queue));
  }

  /**
   * {@return the descriptor that is readable while an asynchronous event is pending, owned by the
   * context}
   */
  public int asyncDescriptor() {
    return RawMemory.getInt(address + ibv_context.async_fd$offset());
  }

  /**
   * Takes and acknowledges an asynchronous event, such as a queue pair in error, a port that went
   * down or a device that is being removed. The object of an acknowledged event may be closed at
   * any time.
   *
   * @return the event; empty if none is pending and the descriptor is non-blocking
   * @throws VerbsException if the device is gone
   */
  public Optional<AsyncEvent> nextAsyncEvent() {
    return nextAsyncEvent(event -> {});
  }

  /**
   * Takes an event as {@link #nextAsyncEvent()} does, and passes it to an observer before
   * acknowledging it. After the acknowledgment, the object of the event may be closed at any time,
   * and another object may have the same address.
   *
   * @param observer called with the event, if there is one; it must not close the object of the
   *     event, which would wait for the acknowledgment
   * @return the event; empty if none is pending and the descriptor is non-blocking
   * @throws VerbsException if the device is gone
   */
  public Optional<AsyncEvent> nextAsyncEvent(Consumer<AsyncEvent> observer) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment event = ibv_async_event.allocate(arena);
      int result = calls.getAsyncEvent(address, event);
      if (result == -Errno.EAGAIN || result == -Errno.EINTR) {
        return Optional.empty();
      }
      VerbsException.check("ibv_get_async_event", "", result);
      int type = ibv_async_event.event_type(event);
      long element = event.get(ValueLayout.JAVA_LONG, ibv_async_event.element$offset());
      AsyncEvent copy = new AsyncEvent(AsyncEvent.Type.of(type), type, element);
      try {
        observer.accept(copy);
      } finally {
        calls.ackAsyncEvent(event);
      }
      return Optional.of(copy);
    }
  }

  @Override
  public void close() {
    if (owned) {
      VerbsException.check("ibv_close_device", "", calls.closeDevice(address));
    }
  }
}
