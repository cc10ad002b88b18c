// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.calls;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.ferrule.posix.NativeFunction;
import dev.ferrule.posix.NativeLibrary;
import dev.ferrule.posix.RawMemory;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The functions of the installed libibverbs. */
public final class NativeVerbsCalls implements VerbsCalls {

  private static final NativeLibrary LIBRARY = NativeLibrary.load("libibverbs.so.1");

  private static final NativeFunction GET_DEVICE_LIST = LIBRARY.function("ibv_get_device_list");
  private static final NativeFunction FREE_DEVICE_LIST = LIBRARY.function("ibv_free_device_list");
  private static final NativeFunction OPEN_DEVICE = LIBRARY.function("ibv_open_device");
  private static final NativeFunction CLOSE_DEVICE = LIBRARY.function("ibv_close_device");
  private static final NativeFunction QUERY_DEVICE = LIBRARY.function("ibv_query_device");
  private static final NativeFunction QUERY_PORT = LIBRARY.function("ibv_query_port");
  private static final NativeFunction QUERY_GID = LIBRARY.function("ibv_query_gid");
  private static final NativeFunction ALLOC_PD = LIBRARY.function("ibv_alloc_pd");
  private static final NativeFunction DEALLOC_PD = LIBRARY.function("ibv_dealloc_pd");
  private static final NativeFunction REG_MR = LIBRARY.function("ibv_reg_mr");
  private static final NativeFunction REG_MR_IOVA = LIBRARY.function("ibv_reg_mr_iova2");
  private static final NativeFunction DEREG_MR = LIBRARY.function("ibv_dereg_mr");
  private static final NativeFunction CREATE_COMP_CHANNEL =
      LIBRARY.function("ibv_create_comp_channel");
  private static final NativeFunction DESTROY_COMP_CHANNEL =
      LIBRARY.function("ibv_destroy_comp_channel");
  private static final NativeFunction GET_CQ_EVENT = LIBRARY.function("ibv_get_cq_event");
  private static final NativeFunction ACK_CQ_EVENTS = LIBRARY.function("ibv_ack_cq_events");
  private static final NativeFunction CREATE_CQ = LIBRARY.function("ibv_create_cq");
  private static final NativeFunction DESTROY_CQ = LIBRARY.function("ibv_destroy_cq");
  private static final NativeFunction CREATE_SRQ = LIBRARY.function("ibv_create_srq");
  private static final NativeFunction DESTROY_SRQ = LIBRARY.function("ibv_destroy_srq");
  private static final NativeFunction MODIFY_QP = LIBRARY.function("ibv_modify_qp");
  private static final NativeFunction GET_ASYNC_EVENT = LIBRARY.function("ibv_get_async_event");
  private static final NativeFunction ACK_ASYNC_EVENT = LIBRARY.function("ibv_ack_async_event");
  private static final NativeFunction GET_DEVICE_NAME = LIBRARY.function("ibv_get_device_name");

  private static final MethodHandle POST =
      link(Critical.POST, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle POLL_CQ =
      link(Critical.POLL, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG);
  private static final MethodHandle REQ_NOTIFY_CQ = link(false, JAVA_INT, JAVA_LONG, JAVA_INT);

  /**
   * Loads the library and looks up its functions.
   *
   * @throws LinkageError if the library is not installed, or the JVM may not call C functions
   */
  public NativeVerbsCalls() {}

  @Override
  public long getDeviceList(MemorySegment count) {
    return GET_DEVICE_LIST.pointer(count);
  }

  @Override
  public void freeDeviceList(long list) {
    FREE_DEVICE_LIST.plain(list);
  }

  @Override
  public long openDevice(long device) {
    return OPEN_DEVICE.pointer(device);
  }

  @Override
  public int closeDevice(long context) {
    return CLOSE_DEVICE.status(context);
  }

  @Override
  public int queryDevice(long context, MemorySegment attributes) {
    return QUERY_DEVICE.error(context, attributes);
  }

  @Override
  public int queryPort(long context, int port, MemorySegment attributes) {
    return QUERY_PORT.error(context, port, attributes);
  }

  @Override
  public int queryGid(long context, int port, int index, MemorySegment gid) {
    return QUERY_GID.status(context, port, index, gid);
  }

  @Override
  public long allocPd(long context) {
    return ALLOC_PD.pointer(context);
  }

  @Override
  public int deallocPd(long protectionDomain) {
    return DEALLOC_PD.error(protectionDomain);
  }

  @Override
  public long regMr(long protectionDomain, long address, long length, int access) {
    return REG_MR.pointer(protectionDomain, address, length, access);
  }

  @Override
  public long regMrIova(
      long protectionDomain, long address, long length, long deviceAddress, int access) {
    return REG_MR_IOVA.pointer(protectionDomain, address, length, deviceAddress, access);
  }

  @Override
  public int deregMr(long memoryRegion) {
    return DEREG_MR.error(memoryRegion);
  }

  @Override
  public long createCompChannel(long context) {
    return CREATE_COMP_CHANNEL.pointer(context);
  }

  @Override
  public int destroyCompChannel(long channel) {
    return DESTROY_COMP_CHANNEL.error(channel);
  }

  @Override
  public int getCqEvent(long channel, MemorySegment queue, MemorySegment context) {
    return GET_CQ_EVENT.status(channel, queue, context);
  }

  @Override
  public void ackCqEvents(long queue, int count) {
    ACK_CQ_EVENTS.plain(queue, count);
  }

  @Override
  public long createCq(long context, int entries, long queueContext, long channel, int vector) {
    return CREATE_CQ.pointer(context, entries, queueContext, channel, vector);
  }

  @Override
  public int destroyCq(long queue) {
    return DESTROY_CQ.error(queue);
  }

  @Override
  public long createSrq(long protectionDomain, MemorySegment attributes) {
    return CREATE_SRQ.pointer(protectionDomain, attributes);
  }

  @Override
  public int destroySrq(long queue) {
    return DESTROY_SRQ.error(queue);
  }

  @Override
  public int modifyQp(long queuePair, MemorySegment attributes, int mask) {
    return MODIFY_QP.error(queuePair, attributes, mask);
  }

  @Override
  public int getAsyncEvent(long context, MemorySegment event) {
    return GET_ASYNC_EVENT.status(context, event);
  }

  @Override
  public void ackAsyncEvent(MemorySegment event) {
    ACK_ASYNC_EVENT.plain(event);
  }

  @Override
  public String getDeviceName(long device) {
    return RawMemory.string(GET_DEVICE_NAME.plain(device));
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
      throw NativeFunction.unexpected(e);
    }
  }

  @Override
  public int pollCq(MemorySegment function, long queue, int count, long completions) {
    try {
      return (int) POLL_CQ.invokeExact(function, queue, count, completions);
    } catch (Throwable e) {
      throw NativeFunction.unexpected(e);
    }
  }

  @Override
  public int reqNotifyCq(MemorySegment function, long queue, int solicitedOnly) {
    try {
      int result = (int) REQ_NOTIFY_CQ.invokeExact(function, queue, solicitedOnly);
      return result > 0 ? -result : result;
    } catch (Throwable e) {
      throw NativeFunction.unexpected(e);
    }
  }

  /**
   * Links functions of a device's driver; the handle's first argument is the function.
   *
   * @param critical whether they return so quickly that a safepoint may wait for them
   */
  private static MethodHandle link(
      boolean critical, MemoryLayout result, MemoryLayout... arguments) {
    FunctionDescriptor descriptor = FunctionDescriptor.of(result, arguments);
    return critical
        ? Linker.nativeLinker().downcallHandle(descriptor, Linker.Option.critical(false))
        : Linker.nativeLinker().downcallHandle(descriptor);
  }

  /**
   * The functions of the device that the JVM calls without a thread state transition. The system
   * property {@code ferrule.verbs.critical} selects them: {@code poll} (the default), {@code all}
   * or {@code none}. Such a call saves some nanoseconds, but a safepoint waits until the function
   * returns. Polling only reads memory; posting is a system call with devices such as soft-RoCE.
   */
  private static final class Critical {
    private static final String CHOICE = System.getProperty("ferrule.verbs.critical", "poll");
    static final boolean POST = CHOICE.equals("all");
    static final boolean POLL = !CHOICE.equals("none");
  }
}
