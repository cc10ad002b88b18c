// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.calls;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.ferrule.posix.NativeFunction;
import dev.ferrule.posix.NativeLibrary;
import dev.ferrule.verbs.librdmacm.RdmaCm;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.ToIntFunction;

/** The functions of the installed librdmacm. */
public final class NativeCmCalls implements CmCalls {

  private static final NativeLibrary LIBRARY = NativeLibrary.load("librdmacm.so.1");

  private static final NativeFunction CREATE_EVENT_CHANNEL =
      LIBRARY.function("rdma_create_event_channel");
  private static final NativeFunction DESTROY_EVENT_CHANNEL =
      LIBRARY.function("rdma_destroy_event_channel");
  private static final NativeFunction DESTROY_ID = LIBRARY.function("rdma_destroy_id");
  private static final NativeFunction BIND_ADDR = LIBRARY.function("rdma_bind_addr");
  private static final NativeFunction RESOLVE_ROUTE = LIBRARY.function("rdma_resolve_route");
  private static final NativeFunction CREATE_QP = LIBRARY.function("rdma_create_qp");
  private static final NativeFunction DESTROY_QP = LIBRARY.function("rdma_destroy_qp");
  private static final NativeFunction CONNECT = LIBRARY.function("rdma_connect");
  private static final NativeFunction LISTEN = LIBRARY.function("rdma_listen");
  private static final NativeFunction ACCEPT = LIBRARY.function("rdma_accept");
  private static final NativeFunction DISCONNECT = LIBRARY.function("rdma_disconnect");
  private static final NativeFunction ACK_CM_EVENT = LIBRARY.function("rdma_ack_cm_event");
  private static final NativeFunction CREATE_ID = LIBRARY.function("rdma_create_id");
  private static final NativeFunction RESOLVE_ADDR = LIBRARY.function("rdma_resolve_addr");
  private static final NativeFunction REJECT = LIBRARY.function("rdma_reject");
  private static final NativeFunction GET_CM_EVENT = LIBRARY.function("rdma_get_cm_event");
  private static final NativeFunction SET_OPTION = LIBRARY.function("rdma_set_option");
  private static final NativeFunction INIT_QP_ATTR = LIBRARY.function("rdma_init_qp_attr");
  private static final NativeFunction GET_SRC_PORT = LIBRARY.function("rdma_get_src_port");

  /**
   * Loads the library and looks up its functions.
   *
   * @throws LinkageError if the library is not installed, or the JVM may not call C functions
   */
  public NativeCmCalls() {}

  @Override
  public long createEventChannel() {
    return CREATE_EVENT_CHANNEL.pointer();
  }

  @Override
  public void destroyEventChannel(long channel) {
    DESTROY_EVENT_CHANNEL.plain(channel);
  }

  @Override
  public int destroyId(long id) {
    return DESTROY_ID.status(id);
  }

  @Override
  public int bindAddr(long id, MemorySegment address) {
    return BIND_ADDR.status(id, address);
  }

  @Override
  public int resolveRoute(long id, int timeoutMillis) {
    return RESOLVE_ROUTE.status(id, timeoutMillis);
  }

  @Override
  public int createQp(long id, long protectionDomain, MemorySegment attributes) {
    return CREATE_QP.status(id, protectionDomain, attributes);
  }

  @Override
  public void destroyQp(long id) {
    DESTROY_QP.plain(id);
  }

  @Override
  public int connect(long id, MemorySegment parameters) {
    return CONNECT.status(id, parameters);
  }

  @Override
  public int listen(long id, int backlog) {
    return LISTEN.status(id, backlog);
  }

  @Override
  public int accept(long id, MemorySegment parameters) {
    return ACCEPT.status(id, parameters);
  }

  @Override
  public int disconnect(long id) {
    return DISCONNECT.status(id);
  }

  @Override
  public int ackCmEvent(long event) {
    return ACK_CM_EVENT.status(event);
  }

  @Override
  public long createId(long channel) {
    return withResult(id -> CREATE_ID.status(channel, id, 0, RdmaCm.RDMA_PS_TCP()));
  }

  @Override
  public int resolveAddr(long id, MemorySegment destination, int timeoutMillis) {
    return RESOLVE_ADDR.status(id, 0, destination, timeoutMillis);
  }

  @Override
  public int reject(long id, MemorySegment privateData, int length) {
    return REJECT.status(id, privateData, length);
  }

  @Override
  public long getCmEvent(long channel) {
    return withResult(event -> GET_CM_EVENT.status(channel, event));
  }

  @Override
  public int setOption(long id, int level, int option, MemorySegment value) {
    return SET_OPTION.status(id, level, option, value, value.byteSize());
  }

  @Override
  public int initQpAttr(long id, MemorySegment attributes, MemorySegment mask) {
    return INIT_QP_ATTR.status(id, attributes, mask);
  }

  @Override
  public short getSrcPort(long id) {
    return (short) GET_SRC_PORT.plain(id);
  }

  /** Returns the pointer that a function writes to a given address, or -errno. */
  private static long withResult(ToIntFunction<MemorySegment> call) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment result = arena.allocate(JAVA_LONG);
      int status = call.applyAsInt(result);
      return status < 0 ? status : result.get(JAVA_LONG, 0);
    }
  }
}
