// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.calls;

import java.lang.foreign.MemorySegment;

/**
 * The functions of librdmacm, one method each, with the same name and order of arguments. Pointers
 * are raw addresses. A result below 0 is {@code -errno}; any other result is a success.
 *
 * <p>Source: the manual pages of rdma-core, one for each function, and rdma_cm(7).
 *
 * <p><b>Threads:</b> as the functions themselves: safe for use by several threads, but no thread
 * may use an object while another thread destroys it.
 */
public interface CmCalls {

  /**
   * {@code rdma_create_event_channel(3)}: returns the channel's address.
   *
   * @return the result, or -errno
   */
  long createEventChannel();

  /**
   * {@code rdma_destroy_event_channel(3)}.
   *
   * @param channel the channel
   */
  void destroyEventChannel(long channel);

  /**
   * {@code rdma_create_id(3)} in the port space RDMA_PS_TCP: returns the id's address.
   *
   * @param channel the channel
   * @return the result, or -errno
   */
  long createId(long channel);

  /**
   * {@code rdma_destroy_id(3)}.
   *
   * @param id the id
   * @return 0 or more, or -errno
   */
  int destroyId(long id);

  /**
   * {@code rdma_bind_addr(3)}.
   *
   * @param id the id
   * @param address a sockaddr
   * @return 0 or more, or -errno
   */
  int bindAddr(long id, MemorySegment address);

  /**
   * {@code rdma_resolve_addr(3)}, without a source address.
   *
   * @param id the id
   * @param destination a sockaddr
   * @param timeoutMillis the time to wait for the resolution, in milliseconds
   * @return 0 or more, or -errno
   */
  int resolveAddr(long id, MemorySegment destination, int timeoutMillis);

  /**
   * {@code rdma_resolve_route(3)}.
   *
   * @param id the id
   * @param timeoutMillis the time to wait for the resolution, in milliseconds
   * @return 0 or more, or -errno
   */
  int resolveRoute(long id, int timeoutMillis);

  /**
   * {@code rdma_create_qp(3)}.
   *
   * @param id the id
   * @param protectionDomain the protection domain
   * @param attributes an ibv_qp_init_attr, to read and update
   * @return 0 or more, or -errno
   */
  int createQp(long id, long protectionDomain, MemorySegment attributes);

  /**
   * {@code rdma_destroy_qp(3)}.
   *
   * @param id the id
   */
  void destroyQp(long id);

  /**
   * {@code rdma_connect(3)}.
   *
   * @param id the id
   * @param parameters an rdma_conn_param
   * @return 0 or more, or -errno
   */
  int connect(long id, MemorySegment parameters);

  /**
   * {@code rdma_listen(3)}.
   *
   * @param id the id
   * @param backlog the backlog of connect requests
   * @return 0 or more, or -errno
   */
  int listen(long id, int backlog);

  /**
   * {@code rdma_accept(3)}.
   *
   * @param id the id
   * @param parameters an rdma_conn_param
   * @return 0 or more, or -errno
   */
  int accept(long id, MemorySegment parameters);

  /**
   * {@code rdma_reject(3)}.
   *
   * @param id the id
   * @param privateData the private data for the peer
   * @param length its length in bytes
   * @return 0 or more, or -errno
   */
  int reject(long id, MemorySegment privateData, int length);

  /**
   * {@code rdma_disconnect(3)}.
   *
   * @param id the id
   * @return 0 or more, or -errno
   */
  int disconnect(long id);

  /**
   * {@code rdma_get_cm_event(3)}: returns the event's address.
   *
   * @param channel the channel
   * @return the result, or -errno
   */
  long getCmEvent(long channel);

  /**
   * {@code rdma_ack_cm_event(3)}.
   *
   * @param event the event
   * @return 0 or more, or -errno
   */
  int ackCmEvent(long event);

  /**
   * {@code rdma_set_option(3)}.
   *
   * @param id the id
   * @param level the level of the option
   * @param option the option
   * @param value its value
   * @return 0 or more, or -errno
   */
  int setOption(long id, int level, int option, MemorySegment value);

  /**
   * {@code rdma_init_qp_attr(3)}.
   *
   * @param id the id
   * @param attributes an ibv_qp_attr to fill
   * @param mask receives the mask of the attributes
   * @return the result, or -errno
   */
  int initQpAttr(long id, MemorySegment attributes, MemorySegment mask);

  /**
   * {@code rdma_get_src_port(3)}, in network byte order.
   *
   * @param id the id
   * @return the port
   */
  short getSrcPort(long id);
}
