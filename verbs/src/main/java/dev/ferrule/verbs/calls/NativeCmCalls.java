// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.calls;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.ferrule.bindings.rdmacm.RdmaCm;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The functions of the installed librdmacm. */
public final class NativeCmCalls implements CmCalls {

  private static final MethodHandle CREATE_EVENT_CHANNEL =
      Downcalls.link(RdmaCm.rdma_create_event_channel$address(), JAVA_LONG);
  private static final MethodHandle DESTROY_EVENT_CHANNEL =
      Downcalls.linkVoid(RdmaCm.rdma_destroy_event_channel$address(), JAVA_LONG);
  private static final MethodHandle DESTROY_ID =
      Downcalls.link(RdmaCm.rdma_destroy_id$address(), JAVA_INT, JAVA_LONG);
  private static final MethodHandle BIND_ADDR =
      Downcalls.link(RdmaCm.rdma_bind_addr$address(), JAVA_INT, JAVA_LONG, ADDRESS);
  private static final MethodHandle RESOLVE_ROUTE =
      Downcalls.link(RdmaCm.rdma_resolve_route$address(), JAVA_INT, JAVA_LONG, JAVA_INT);
  private static final MethodHandle CREATE_QP =
      Downcalls.link(RdmaCm.rdma_create_qp$address(), JAVA_INT, JAVA_LONG, JAVA_LONG, ADDRESS);
  private static final MethodHandle DESTROY_QP =
      Downcalls.linkVoid(RdmaCm.rdma_destroy_qp$address(), JAVA_LONG);
  private static final MethodHandle CONNECT =
      Downcalls.link(RdmaCm.rdma_connect$address(), JAVA_INT, JAVA_LONG, ADDRESS);
  private static final MethodHandle LISTEN =
      Downcalls.link(RdmaCm.rdma_listen$address(), JAVA_INT, JAVA_LONG, JAVA_INT);
  private static final MethodHandle ACCEPT =
      Downcalls.link(RdmaCm.rdma_accept$address(), JAVA_INT, JAVA_LONG, ADDRESS);
  private static final MethodHandle DISCONNECT =
      Downcalls.link(RdmaCm.rdma_disconnect$address(), JAVA_INT, JAVA_LONG);
  private static final MethodHandle ACK_CM_EVENT =
      Downcalls.link(RdmaCm.rdma_ack_cm_event$address(), JAVA_INT, JAVA_LONG);
  private static final MethodHandle CREATE_ID =
      Downcalls.link(
          RdmaCm.rdma_create_id$address(), JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_INT);
  private static final MethodHandle RESOLVE_ADDR =
      Downcalls.link(
          RdmaCm.rdma_resolve_addr$address(), JAVA_INT, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_INT);
  private static final MethodHandle REJECT =
      Downcalls.link(RdmaCm.rdma_reject$address(), JAVA_INT, JAVA_LONG, ADDRESS, JAVA_BYTE);
  private static final MethodHandle GET_CM_EVENT =
      Downcalls.link(RdmaCm.rdma_get_cm_event$address(), JAVA_INT, JAVA_LONG, ADDRESS);
  private static final MethodHandle SET_OPTION =
      Downcalls.link(
          RdmaCm.rdma_set_option$address(),
          JAVA_INT,
          JAVA_LONG,
          JAVA_INT,
          JAVA_INT,
          ADDRESS,
          JAVA_LONG);
  private static final MethodHandle INIT_QP_ATTR =
      Downcalls.link(RdmaCm.rdma_init_qp_attr$address(), JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS);
  private static final MethodHandle GET_SRC_PORT =
      Downcalls.link(RdmaCm.rdma_get_src_port$address(), JAVA_SHORT, JAVA_LONG);

  /**
   * Loads the library and links its functions.
   *
   * @throws LinkageError if the library is not installed, or the JVM may not call C functions
   */
  public NativeCmCalls() {}

  @Override
  public long createEventChannel() {
    return Downcalls.pointer(state -> (long) CREATE_EVENT_CHANNEL.invokeExact(state));
  }

  @Override
  public void destroyEventChannel(long channel) {
    Downcalls.plain(
        state -> {
          DESTROY_EVENT_CHANNEL.invokeExact(state, channel);
          return 0;
        });
  }

  @Override
  public int destroyId(long id) {
    return Downcalls.status(state -> (int) DESTROY_ID.invokeExact(state, id));
  }

  @Override
  public int bindAddr(long id, MemorySegment address) {
    return Downcalls.status(state -> (int) BIND_ADDR.invokeExact(state, id, address));
  }

  @Override
  public int resolveRoute(long id, int timeoutMillis) {
    return Downcalls.status(state -> (int) RESOLVE_ROUTE.invokeExact(state, id, timeoutMillis));
  }

  @Override
  public int createQp(long id, long protectionDomain, MemorySegment attributes) {
    return Downcalls.status(
        state -> (int) CREATE_QP.invokeExact(state, id, protectionDomain, attributes));
  }

  @Override
  public void destroyQp(long id) {
    Downcalls.plain(
        state -> {
          DESTROY_QP.invokeExact(state, id);
          return 0;
        });
  }

  @Override
  public int connect(long id, MemorySegment parameters) {
    return Downcalls.status(state -> (int) CONNECT.invokeExact(state, id, parameters));
  }

  @Override
  public int listen(long id, int backlog) {
    return Downcalls.status(state -> (int) LISTEN.invokeExact(state, id, backlog));
  }

  @Override
  public int accept(long id, MemorySegment parameters) {
    return Downcalls.status(state -> (int) ACCEPT.invokeExact(state, id, parameters));
  }

  @Override
  public int disconnect(long id) {
    return Downcalls.status(state -> (int) DISCONNECT.invokeExact(state, id));
  }

  @Override
  public int ackCmEvent(long event) {
    return Downcalls.status(state -> (int) ACK_CM_EVENT.invokeExact(state, event));
  }

  @Override
  public long createId(long channel) {
    return withResult(
        (state, id) -> (int) CREATE_ID.invokeExact(state, channel, id, 0L, RdmaCm.RDMA_PS_TCP()));
  }

  @Override
  public int resolveAddr(long id, MemorySegment destination, int timeoutMillis) {
    return Downcalls.status(
        state -> (int) RESOLVE_ADDR.invokeExact(state, id, 0L, destination, timeoutMillis));
  }

  @Override
  public int reject(long id, MemorySegment privateData, int length) {
    return Downcalls.status(
        state -> (int) REJECT.invokeExact(state, id, privateData, (byte) length));
  }

  @Override
  public long getCmEvent(long channel) {
    return withResult((state, event) -> (int) GET_CM_EVENT.invokeExact(state, channel, event));
  }

  @Override
  public int setOption(long id, int level, int option, MemorySegment value) {
    return Downcalls.status(
        state -> (int) SET_OPTION.invokeExact(state, id, level, option, value, value.byteSize()));
  }

  @Override
  public int initQpAttr(long id, MemorySegment attributes, MemorySegment mask) {
    return Downcalls.status(state -> (int) INIT_QP_ATTR.invokeExact(state, id, attributes, mask));
  }

  @Override
  public short getSrcPort(long id) {
    return (short) Downcalls.plain(state -> (short) GET_SRC_PORT.invokeExact(state, id));
  }

  /** A call that writes a pointer to a given address. */
  private interface CallWithResult {
    int run(MemorySegment state, MemorySegment result) throws Throwable;
  }

  private static long withResult(CallWithResult call) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment result = arena.allocate(JAVA_LONG);
      int status = Downcalls.status(state -> call.run(state, result));
      return status < 0 ? status : result.get(JAVA_LONG, 0);
    }
  }
}
