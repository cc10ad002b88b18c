// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.cm;

/**
 * An event of the connection manager, copied from {@code rdma_cm_event} and acknowledged.
 *
 * @param type what happened
 * @param status why, for the types that are failures: -errno, or for a rejection the reason of the
 *     InfiniBand specification (12.6.7.2)
 * @param id the address of the id that it happened to; of a new one for {@link
 *     Type#CONNECT_REQUEST}
 * @param listenerId for a connect request, the address of the id that listens; else 0
 * @param privateData what the peer sent along, as long as its field is, so padded by zeros; empty
 *     for types without
 */
public record CmEvent(Type type, int status, long id, long listenerId, byte[] privateData) {

  /** The reason of a rejection by the peer's program, rather than by its kernel. */
  public static final int REJECTED_BY_CONSUMER = 28;

  /** What happened. The order is that of {@code enum rdma_cm_event_type}. */
  public enum Type {
    /** The address is resolved, and the id bound to a device. */
    ADDRESS_RESOLVED,
    /** The address could not be resolved. */
    ADDRESS_ERROR,
    /** The route is resolved. */
    ROUTE_RESOLVED,
    /** The route could not be resolved. */
    ROUTE_ERROR,
    /** A client wants to connect. */
    CONNECT_REQUEST,
    /** The peer has accepted, and the program has to confirm; only without a queue pair. */
    CONNECT_RESPONSE,
    /** Connecting failed. */
    CONNECT_ERROR,
    /** The peer does not answer. */
    UNREACHABLE,
    /** The peer said no, or nobody listens. */
    REJECTED,
    /** The connection is there. */
    ESTABLISHED,
    /** The connection is gone. */
    DISCONNECTED,
    /** The device is going away. */
    DEVICE_REMOVAL,
    /** A multicast group was joined. */
    MULTICAST_JOIN,
    /** A multicast group broke. */
    MULTICAST_ERROR,
    /** The address of the device has changed. */
    ADDRESS_CHANGE,
    /** The queue pair may be used again. */
    TIMEWAIT_EXIT,
    /** One that this version does not know. */
    UNKNOWN;

    static Type of(int code) {
      return code >= 0 && code < UNKNOWN.ordinal() ? values()[code] : UNKNOWN;
    }
  }
}
