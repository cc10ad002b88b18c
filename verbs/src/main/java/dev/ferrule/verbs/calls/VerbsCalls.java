// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.calls;

import java.lang.foreign.MemorySegment;

/**
 * The functions of libibverbs, one method each, with the same name and order of arguments. Pointers
 * are raw addresses. A result below 0 is {@code -errno}, whether the function itself returns errno,
 * {@code -errno}, or -1 and sets errno; any other result is a success. Only {@link #pollCq}
 * differs.
 *
 * <p>The methods of the data path take the driver's function, from {@code ibv_context.ops}. They
 * allocate nothing.
 *
 * <p>Source: the manual pages of rdma-core, one for each function.
 *
 * <p><b>Threads:</b> as the functions themselves: safe for use by several threads, but no thread
 * may use an object while another thread destroys it.
 */
public interface VerbsCalls {

  /**
   * {@code ibv_get_device_list(3)}: returns the address of an array of device pointers.
   *
   * @param count receives the number of devices
   * @return the result, or -errno
   */
  long getDeviceList(MemorySegment count);

  /**
   * {@code ibv_free_device_list(3)}.
   *
   * @param list the array
   */
  void freeDeviceList(long list);

  /**
   * {@code ibv_get_device_name(3)}.
   *
   * @param device the device
   * @return the text
   */
  String getDeviceName(long device);

  /**
   * {@code ibv_open_device(3)}: returns the context's address.
   *
   * @param device the device
   * @return the result, or -errno
   */
  long openDevice(long device);

  /**
   * {@code ibv_close_device(3)}.
   *
   * @param context the context
   * @return 0 or more, or -errno
   */
  int closeDevice(long context);

  /**
   * {@code ibv_query_device(3)}.
   *
   * @param context the context
   * @param attributes the C structure of the attributes
   * @return 0 or more, or -errno
   */
  int queryDevice(long context, MemorySegment attributes);

  /**
   * {@code ibv_query_port(3)}; the attributes must be zeroed.
   *
   * @param context the context
   * @param port the port's number, from 1
   * @param attributes the C structure of the attributes
   * @return 0 or more, or -errno
   */
  int queryPort(long context, int port, MemorySegment attributes);

  /**
   * {@code ibv_query_gid(3)}.
   *
   * @param context the context
   * @param port the port's number, from 1
   * @param index the index in the table, from 0
   * @param gid 16 bytes to fill
   * @return 0 or more, or -errno
   */
  int queryGid(long context, int port, int index, MemorySegment gid);

  /**
   * {@code ibv_alloc_pd(3)}: returns the protection domain's address.
   *
   * @param context the context
   * @return the result, or -errno
   */
  long allocPd(long context);

  /**
   * {@code ibv_dealloc_pd(3)}.
   *
   * @param protectionDomain the protection domain
   * @return 0 or more, or -errno
   */
  int deallocPd(long protectionDomain);

  /**
   * {@code ibv_reg_mr(3)}: returns the memory region's address.
   *
   * @param protectionDomain the protection domain
   * @param address the start of the memory
   * @param length the length in bytes
   * @param access the access flags
   * @return the result, or -errno
   */
  long regMr(long protectionDomain, long address, long length, int access);

  /**
   * {@code ibv_reg_mr_iova2}, see ibv_reg_mr(3): returns the memory region's address.
   *
   * @param protectionDomain the protection domain
   * @param address the start of the memory
   * @param length the length in bytes
   * @param deviceAddress the start of the memory in work requests (the iova)
   * @param access the access flags
   * @return the result, or -errno
   */
  long regMrIova(long protectionDomain, long address, long length, long deviceAddress, int access);

  /**
   * {@code ibv_dereg_mr(3)}.
   *
   * @param memoryRegion the memory region
   * @return 0 or more, or -errno
   */
  int deregMr(long memoryRegion);

  /**
   * {@code ibv_create_comp_channel(3)}: returns the channel's address.
   *
   * @param context the context
   * @return the result, or -errno
   */
  long createCompChannel(long context);

  /**
   * {@code ibv_destroy_comp_channel(3)}.
   *
   * @param channel the channel
   * @return 0 or more, or -errno
   */
  int destroyCompChannel(long channel);

  /**
   * {@code ibv_get_cq_event(3)}.
   *
   * @param channel the channel
   * @param queue receives the address of the queue
   * @param context receives the queue's context
   * @return 0 or more, or -errno
   */
  int getCqEvent(long channel, MemorySegment queue, MemorySegment context);

  /**
   * {@code ibv_ack_cq_events(3)}.
   *
   * @param queue the queue
   * @param count the number of events
   */
  void ackCqEvents(long queue, int count);

  /**
   * {@code ibv_create_cq(3)}: returns the completion queue's address.
   *
   * @param context the context
   * @param entries the minimum number of completions
   * @param queueContext the context that its events carry
   * @param channel the channel
   * @param vector the completion vector
   * @return the result, or -errno
   */
  long createCq(long context, int entries, long queueContext, long channel, int vector);

  /**
   * {@code ibv_destroy_cq(3)}.
   *
   * @param queue the queue
   * @return 0 or more, or -errno
   */
  int destroyCq(long queue);

  /**
   * {@code ibv_create_srq(3)}: returns the shared receive queue's address.
   *
   * @param protectionDomain the protection domain
   * @param attributes the C structure of the attributes
   * @return the result, or -errno
   */
  long createSrq(long protectionDomain, MemorySegment attributes);

  /**
   * {@code ibv_destroy_srq(3)}.
   *
   * @param queue the queue
   * @return 0 or more, or -errno
   */
  int destroySrq(long queue);

  /**
   * {@code ibv_modify_qp(3)}.
   *
   * @param queuePair the queue pair
   * @param attributes the C structure of the attributes
   * @param mask the mask of the attributes
   * @return 0 or more, or -errno
   */
  int modifyQp(long queuePair, MemorySegment attributes, int mask);

  /**
   * {@code ibv_get_async_event(3)}.
   *
   * @param context the context
   * @param event the event
   * @return 0 or more, or -errno
   */
  int getAsyncEvent(long context, MemorySegment event);

  /**
   * {@code ibv_ack_async_event(3)}.
   *
   * @param event the event
   */
  void ackAsyncEvent(MemorySegment event);

  /**
   * {@code ibv_post_send(3)}.
   *
   * @param function the device's function
   * @param queuePair the queue pair
   * @param request the first work request of a chain
   * @param bad receives the address of the request that failed
   * @return 0, or -errno
   */
  int postSend(MemorySegment function, long queuePair, long request, long bad);

  /**
   * {@code ibv_post_recv(3)}.
   *
   * @param function the device's function
   * @param queuePair the queue pair
   * @param request the first work request of a chain
   * @param bad receives the address of the request that failed
   * @return 0, or -errno
   */
  int postRecv(MemorySegment function, long queuePair, long request, long bad);

  /**
   * {@code ibv_post_srq_recv(3)}.
   *
   * @param function the device's function
   * @param queue the queue
   * @param request the first work request of a chain
   * @param bad receives the address of the request that failed
   * @return 0, or -errno
   */
  int postSrqRecv(MemorySegment function, long queue, long request, long bad);

  /**
   * {@code ibv_poll_cq(3)}: returns the number of completions.
   *
   * @param function the device's function
   * @param queue the queue
   * @param count the maximum number of completions
   * @param completions the array that receives the completions
   * @return the number; below 0 on failure: the driver's number, which is no errno
   */
  int pollCq(MemorySegment function, long queue, int count, long completions);

  /**
   * {@code ibv_req_notify_cq(3)}.
   *
   * @param function the device's function
   * @param queue the queue
   * @param solicitedOnly 1 for solicited events only, or 0
   * @return 0, or -errno
   */
  int reqNotifyCq(MemorySegment function, long queue, int solicitedOnly);
}
