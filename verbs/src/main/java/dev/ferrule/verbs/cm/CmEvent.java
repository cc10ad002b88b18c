// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.cm;

/**
 * An event of the connection manager, copied from {@code rdma_cm_event}.
 *
 * @param type the type
 * @param status the reason of a failure: -errno, or for a rejection the reason code of the
 *     InfiniBand specification (12.6.7.2)
 * @param id the address of the event's id; for {@link Type#CONNECT_REQUEST}, of a new id
 * @param listenerId for a connect request, the address of the listening id; else 0
 * @param privateData the peer's private data, padded with zeros to the length of its field; empty
 *     for types without private data
 */
public record CmEvent(Type type, int status, long id, long listenerId, byte[] privateData) {

  /** The reason code of a rejection by the peer's program rather than by its kernel. */
  public static final int REJECTED_BY_CONSUMER = 28;

  /** The type of an event, in the order of {@code enum rdma_cm_event_type}. */
  public enum Type {
    /** The address is resolved, and the id is bound to a device. */
    ADDRESS_RESOLVED,
    /** The address could not be resolved. */
    ADDRESS_ERROR,
    /** The route is resolved. */
    ROUTE_RESOLVED,
    /** The route could not be resolved. */
    ROUTE_ERROR,
    /** A client requests a connection. */
    CONNECT_REQUEST,
    /**
     * The peer has accepted, and the program has to confirm; only for an id without a queue pair.
     */
    CONNECT_RESPONSE,
    /** Establishing the connection failed. */
    CONNECT_ERROR,
    /** The peer is unreachable or does not answer. */
    UNREACHABLE,
    /** The peer rejected the request, or no listener has the port. */
    REJECTED,
    /** The connection is established. */
    ESTABLISHED,
    /** The connection is disconnected. */
    DISCONNECTED,
    /** The device is being removed. */
    DEVICE_REMOVAL,
    /** A multicast group was joined. */
    MULTICAST_JOIN,
    /** A multicast group failed. */
    MULTICAST_ERROR,
    /** The address of the device has changed. */
    ADDRESS_CHANGE,
    /** The queue pair left the timewait state and may be reused. */
    TIMEWAIT_EXIT,
    /** A type unknown to this version. */
    UNKNOWN;

    static Type of(int code) {
      return code >= 0 && code < UNKNOWN.ordinal() ? values()[code] : UNKNOWN;
    }
  }
}
