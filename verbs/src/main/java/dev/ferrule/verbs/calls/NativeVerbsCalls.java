// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.calls;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.ferrule.bindings.verbs.Verbs;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The functions of the installed libibverbs. */
public final class NativeVerbsCalls implements VerbsCalls {

  private static final MethodHandle GET_DEVICE_LIST =
      Downcalls.link(Verbs.ibv_get_device_list$address(), JAVA_LONG, ADDRESS);
  private static final MethodHandle FREE_DEVICE_LIST =
      Downcalls.linkVoid(Verbs.ibv_free_device_list$address(), JAVA_LONG);
  private static final MethodHandle OPEN_DEVICE =
      Downcalls.link(Verbs.ibv_open_device$address(), JAVA_LONG, JAVA_LONG);
  private static final MethodHandle CLOSE_DEVICE =
      Downcalls.link(Verbs.ibv_close_device$address(), JAVA_INT, JAVA_LONG);
  private static final MethodHandle QUERY_DEVICE =
      Downcalls.link(Verbs.ibv_query_device$address(), JAVA_INT, JAVA_LONG, ADDRESS);
  private static final MethodHandle QUERY_PORT =
      Downcalls.link(Verbs.ibv_query_port$address(), JAVA_INT, JAVA_LONG, JAVA_BYTE, ADDRESS);
  private static final MethodHandle QUERY_GID =
      Downcalls.link(
          Verbs.ibv_query_gid$address(), JAVA_INT, JAVA_LONG, JAVA_BYTE, JAVA_INT, ADDRESS);
  private static final MethodHandle ALLOC_PD =
      Downcalls.link(Verbs.ibv_alloc_pd$address(), JAVA_LONG, JAVA_LONG);
  private static final MethodHandle DEALLOC_PD =
      Downcalls.link(Verbs.ibv_dealloc_pd$address(), JAVA_INT, JAVA_LONG);
  private static final MethodHandle REG_MR =
      Downcalls.link(
          Verbs.ibv_reg_mr$address(), JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle REG_MR_IOVA =
      Downcalls.link(
          Verbs.ibv_reg_mr_iova2$address(),
          JAVA_LONG,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_INT);
  private static final MethodHandle DEREG_MR =
      Downcalls.link(Verbs.ibv_dereg_mr$address(), JAVA_INT, JAVA_LONG);
  private static final MethodHandle CREATE_COMP_CHANNEL =
      Downcalls.link(Verbs.ibv_create_comp_channel$address(), JAVA_LONG, JAVA_LONG);
  private static final MethodHandle DESTROY_COMP_CHANNEL =
      Downcalls.link(Verbs.ibv_destroy_comp_channel$address(), JAVA_INT, JAVA_LONG);
  private static final MethodHandle GET_CQ_EVENT =
      Downcalls.link(Verbs.ibv_get_cq_event$address(), JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS);
  private static final MethodHandle ACK_CQ_EVENTS =
      Downcalls.linkVoid(Verbs.ibv_ack_cq_events$address(), JAVA_LONG, JAVA_INT);
  private static final MethodHandle CREATE_CQ =
      Downcalls.link(
          Verbs.ibv_create_cq$address(),
          JAVA_LONG,
          JAVA_LONG,
          JAVA_INT,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_INT);
  private static final MethodHandle DESTROY_CQ =
      Downcalls.link(Verbs.ibv_destroy_cq$address(), JAVA_INT, JAVA_LONG);
  private static final MethodHandle CREATE_SRQ =
      Downcalls.link(Verbs.ibv_create_srq$address(), JAVA_LONG, JAVA_LONG, ADDRESS);
  private static final MethodHandle DESTROY_SRQ =
      Downcalls.link(Verbs.ibv_destroy_srq$address(), JAVA_INT, JAVA_LONG);
  private static final MethodHandle MODIFY_QP =
      Downcalls.link(Verbs.ibv_modify_qp$address(), JAVA_INT, JAVA_LONG, ADDRESS, JAVA_INT);
  private static final MethodHandle QUERY_QP =
      Downcalls.link(Verbs.ibv_query_qp$address(), JAVA_INT, JAVA_LONG, ADDRESS, JAVA_INT, ADDRESS);
  private static final MethodHandle GET_ASYNC_EVENT =
      Downcalls.link(Verbs.ibv_get_async_event$address(), JAVA_INT, JAVA_LONG, ADDRESS);
  private static final MethodHandle ACK_ASYNC_EVENT =
      Downcalls.linkVoid(Verbs.ibv_ack_async_event$address(), ADDRESS);
  private static final MethodHandle GET_DEVICE_NAME =
      Downcalls.link(Verbs.ibv_get_device_name$address(), JAVA_LONG, JAVA_LONG);
  private static final MethodHandle GET_DEVICE_GUID =
      Downcalls.link(Verbs.ibv_get_device_guid$address(), JAVA_LONG, JAVA_LONG);
  private static final MethodHandle WC_STATUS_STR =
      Downcalls.link(Verbs.ibv_wc_status_str$address(), JAVA_LONG, JAVA_INT);
  private static final MethodHandle EVENT_TYPE_STR =
      Downcalls.link(Verbs.ibv_event_type_str$address(), JAVA_LONG, JAVA_INT);

  private static final MethodHandle POST =
      Downcalls.linkDevices(Critical.POST, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle POLL_CQ =
      Downcalls.linkDevices(Critical.POLL, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG);
  private static final MethodHandle REQ_NOTIFY_CQ =
      Downcalls.linkDevices(false, JAVA_INT, JAVA_LONG, JAVA_INT);

  /**
   * Loads the library and links its functions.
   *
   * @throws LinkageError if the library is not installed, or the JVM may not call C functions
   */
  public NativeVerbsCalls() {}

  @Override
  public long getDeviceList(MemorySegment count) {
    return Downcalls.pointer(state -> (long) GET_DEVICE_LIST.invokeExact(state, count));
  }

  @Override
  public void freeDeviceList(long list) {
    Downcalls.plain(
        state -> {
          FREE_DEVICE_LIST.invokeExact(state, list);
          return 0;
        });
  }

  @Override
  public long openDevice(long device) {
    return Downcalls.pointer(state -> (long) OPEN_DEVICE.invokeExact(state, device));
  }

  @Override
  public int closeDevice(long context) {
    return Downcalls.status(state -> (int) CLOSE_DEVICE.invokeExact(state, context));
  }

  @Override
  public int queryDevice(long context, MemorySegment attributes) {
    return Downcalls.error(state -> (int) QUERY_DEVICE.invokeExact(state, context, attributes));
  }

  @Override
  public int queryPort(long context, int port, MemorySegment attributes) {
    return Downcalls.error(
        state -> (int) QUERY_PORT.invokeExact(state, context, (byte) port, attributes));
  }

  @Override
  public int queryGid(long context, int port, int index, MemorySegment gid) {
    return Downcalls.status(
        state -> (int) QUERY_GID.invokeExact(state, context, (byte) port, index, gid));
  }

  @Override
  public long allocPd(long context) {
    return Downcalls.pointer(state -> (long) ALLOC_PD.invokeExact(state, context));
  }

  @Override
  public int deallocPd(long protectionDomain) {
    return Downcalls.error(state -> (int) DEALLOC_PD.invokeExact(state, protectionDomain));
  }

  @Override
  public long regMr(long protectionDomain, long address, long length, int access) {
    return Downcalls.pointer(
        state -> (long) REG_MR.invokeExact(state, protectionDomain, address, length, access));
  }

  @Override
  public long regMrIova(
      long protectionDomain, long address, long length, long deviceAddress, int access) {
    return Downcalls.pointer(
        state ->
            (long)
                REG_MR_IOVA.invokeExact(
                    state, protectionDomain, address, length, deviceAddress, access));
  }

  @Override
  public int deregMr(long memoryRegion) {
    return Downcalls.error(state -> (int) DEREG_MR.invokeExact(state, memoryRegion));
  }

  @Override
  public long createCompChannel(long context) {
    return Downcalls.pointer(state -> (long) CREATE_COMP_CHANNEL.invokeExact(state, context));
  }

  @Override
  public int destroyCompChannel(long channel) {
    return Downcalls.error(state -> (int) DESTROY_COMP_CHANNEL.invokeExact(state, channel));
  }

  @Override
  public int getCqEvent(long channel, MemorySegment queue, MemorySegment context) {
    return Downcalls.status(
        state -> (int) GET_CQ_EVENT.invokeExact(state, channel, queue, context));
  }

  @Override
  public void ackCqEvents(long queue, int count) {
    Downcalls.plain(
        state -> {
          ACK_CQ_EVENTS.invokeExact(state, queue, count);
          return 0;
        });
  }

  @Override
  public long createCq(long context, int entries, long queueContext, long channel, int vector) {
    return Downcalls.pointer(
        state ->
            (long) CREATE_CQ.invokeExact(state, context, entries, queueContext, channel, vector));
  }

  @Override
  public int destroyCq(long queue) {
    return Downcalls.error(state -> (int) DESTROY_CQ.invokeExact(state, queue));
  }

  @Override
  public long createSrq(long protectionDomain, MemorySegment attributes) {
    return Downcalls.pointer(
        state -> (long) CREATE_SRQ.invokeExact(state, protectionDomain, attributes));
  }

  @Override
  public int destroySrq(long queue) {
    return Downcalls.error(state -> (int) DESTROY_SRQ.invokeExact(state, queue));
  }

  @Override
  public int modifyQp(long queuePair, MemorySegment attributes, int mask) {
    return Downcalls.error(
        state -> (int) MODIFY_QP.invokeExact(state, queuePair, attributes, mask));
  }

  @Override
  public int queryQp(long queuePair, MemorySegment attributes, int mask, MemorySegment initial) {
    return Downcalls.error(
        state -> (int) QUERY_QP.invokeExact(state, queuePair, attributes, mask, initial));
  }

  @Override
  public int getAsyncEvent(long context, MemorySegment event) {
    return Downcalls.status(state -> (int) GET_ASYNC_EVENT.invokeExact(state, context, event));
  }

  @Override
  public void ackAsyncEvent(MemorySegment event) {
    Downcalls.plain(
        state -> {
          ACK_ASYNC_EVENT.invokeExact(state, event);
          return 0;
        });
  }

  @Override
  public String getDeviceName(long device) {
    return RawMemory.string(
        Downcalls.plain(state -> (long) GET_DEVICE_NAME.invokeExact(state, device)));
  }

  @Override
  public long getDeviceGuid(long device) {
    return Long.reverseBytes(
        Downcalls.plain(state -> (long) GET_DEVICE_GUID.invokeExact(state, device)));
  }

  @Override
  public String wcStatusStr(int status) {
    return RawMemory.string(
        Downcalls.plain(state -> (long) WC_STATUS_STR.invokeExact(state, status)));
  }

  @Override
  public String eventTypeStr(int type) {
    return RawMemory.string(
        Downcalls.plain(state -> (long) EVENT_TYPE_STR.invokeExact(state, type)));
  }

  @Override
  public int postSend(MemorySegment function, long queuePair, long request, long bad) {
    return post(function, queuePair, request, bad);
  }

  @Override
  public int postRecv(MemorySegment function, long queuePair, long request, long bad) {
    return post(function, queuePair, request, bad);
  }

  @Override
  public int postSrqRecv(MemorySegment function, long queue, long request, long bad) {
    return post(function, queue, request, bad);
  }

  /** Calls one of the three functions, which have the same arguments and return errno. */
  private static int post(MemorySegment function, long queue, long request, long bad) {
    try {
      int result = (int) POST.invokeExact(function, queue, request, bad);
      return result > 0 ? -result : result;
    } catch (Throwable e) {
      throw Downcalls.unexpected(e);
    }
  }

  @Override
  public int pollCq(MemorySegment function, long queue, int count, long completions) {
    try {
      return (int) POLL_CQ.invokeExact(function, queue, count, completions);
    } catch (Throwable e) {
      throw Downcalls.unexpected(e);
    }
  }

  @Override
  public int reqNotifyCq(MemorySegment function, long queue, int solicitedOnly) {
    try {
      int result = (int) REQ_NOTIFY_CQ.invokeExact(function, queue, solicitedOnly);
      return result > 0 ? -result : result;
    } catch (Throwable e) {
      throw Downcalls.unexpected(e);
    }
  }

  /**
   * The functions of the device that the JVM calls without a thread state transition, by the system
   * property {@code ferrule.verbs.critical}: {@code poll} (the default), {@code all} or {@code
   * none}. Such a call saves some nanoseconds, but a safepoint waits until the function returns.
   * Polling only reads memory; posting is a system call with devices such as soft-RoCE.
   */
  private static final class Critical {
    private static final String CHOICE = System.getProperty("ferrule.verbs.critical", "poll");
    static final boolean POST = CHOICE.equals("all");
    static final boolean POLL = !CHOICE.equals("none");
  }
}
