// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.bindings.verbs.ibv_async_event;
import dev.ferrule.bindings.verbs.ibv_context;
import dev.ferrule.bindings.verbs.ibv_context_ops;
import dev.ferrule.bindings.verbs.ibv_device_attr;
import dev.ferrule.bindings.verbs.ibv_port_attr;
import dev.ferrule.verbs.calls.RawMemory;
import dev.ferrule.verbs.calls.VerbsCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An open device ({@code ibv_context}), of which everything else is made.
 *
 * {@snippet lang=java :
 * try (VerbsContext context = VerbsLibrary.system().open("rxe0");
 *     ProtectionDomain domain = context.allocateProtectionDomain();
 *     MemoryRegion region = domain.allocate(4096, Access.LOCAL_WRITE)) {
 *   System.out.println(region.segment().byteSize() + " bytes with the key " + region.localKey());
 * }
 * }
 *
 * <p><b>Threads:</b> any number of threads may use one; closing is for one of them, when all that
 * was made of it is closed.
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

  /**
   * Returns the address of the C object.
   *
   * @return the address of the {@code ibv_context}
   */
  public long address() {
    return address;
  }

  /**
   * Returns the name of the device.
   *
   * @return the name, such as mlx5_0 or rxe0
   */
  public String deviceName() {
    return calls.getDeviceName(RawMemory.getLong(address + ibv_context.device$offset()));
  }

  /**
   * Asks the device what it can do.
   *
   * @return its limits
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
   * Asks for the state of a port.
   *
   * @param port its number, from 1
   * @return the state
   * @throws VerbsException if there is no such port
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
   * Asks for a global identifier of a port.
   *
   * @param port the port's number, from 1
   * @param index the identifier's place in the port's table, from 0
   * @return its 16 bytes
   * @throws VerbsException if there is none
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
   * Makes a protection domain.
   *
   * @return the domain, to be closed
   * @throws VerbsException if there is no room for one
   */
  public ProtectionDomain allocateProtectionDomain() {
    return new ProtectionDomain(
        this, VerbsException.check("ibv_alloc_pd", "", calls.allocPd(address)));
  }

  /**
   * Makes a completion channel, by which completion queues wake up a thread.
   *
   * @return the channel, to be closed
   * @throws VerbsException if there is no room for one
   */
  public CompletionChannel createCompletionChannel() {
    return new CompletionChannel(
        calls,
        VerbsException.check("ibv_create_comp_channel", "", calls.createCompChannel(address)));
  }

  /**
   * Makes a completion queue.
   *
   * @param entries how many completions it has to hold, at least 1
   * @param channel where it tells of completions when {@link CompletionQueue#requestNotification
   *     asked to}; or null
   * @param key what the channel's event is to carry
   * @return the queue, to be closed
   * @throws VerbsException if the device cannot hold so many, or has no room for a queue
   */
  public CompletionQueue createCompletionQueue(
      int entries, @Nullable CompletionChannel channel, long key) {
    long queue = calls.createCq(address, entries, key, channel == null ? 0 : channel.address(), 0);
    return new CompletionQueue(
        this, VerbsException.check("ibv_create_cq", entries + " entries", queue));
  }

  /**
   * Returns the descriptor on which {@link #nextAsyncEvent} has something to read.
   *
   * @return the file descriptor, which the context keeps
   */
  public int asyncDescriptor() {
    return RawMemory.getInt(address + ibv_context.async_fd$offset());
  }

  /**
   * Takes an event that concerns no single work request: a queue pair in error, a port that went
   * down, a device that is going away. It is acknowledged at once, so what it tells of may be
   * closed at any time.
   *
   * @return the event; empty if none is there and the descriptor does not block
   * @throws VerbsException if the device is gone
   */
  public Optional<AsyncEvent> nextAsyncEvent() {
    return nextAsyncEvent(event -> {});
  }

  /**
   * Takes an event as {@link #nextAsyncEvent()} does, and shows it before it is acknowledged: after
   * that, what it tells of may be closed at any time, and something else may have the same address.
   *
   * @param observer called with the event, if there is one; it must not close what the event tells
   *     of, which would wait for the acknowledgement
   * @return the event; empty if none is there and the descriptor does not block
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
