// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

/**
 * An event of a device, from {@code ibv_get_async_event(3)}.
 *
 * @param type what happened
 * @param code the same as C numbers it
 * @param element the address of the queue or queue pair concerned, or the number of the port
 */
public record AsyncEvent(Type type, int code, long element) {

  /** What happened. The order is that of {@code enum ibv_event_type}. */
  public enum Type {
    /** A completion queue overflowed or broke. */
    COMPLETION_QUEUE_ERROR,
    /** A queue pair broke. */
    QUEUE_PAIR_FATAL,
    /** A request of the peer was invalid. */
    QUEUE_PAIR_REQUEST_ERROR,
    /** The peer's access was refused. */
    QUEUE_PAIR_ACCESS_ERROR,
    /** The first message came before the connection was confirmed. */
    COMMUNICATION_ESTABLISHED,
    /** The send queue is empty now. */
    SEND_QUEUE_DRAINED,
    /** The connection moved to its other path. */
    PATH_MIGRATED,
    /** The connection could not move to its other path. */
    PATH_MIGRATION_ERROR,
    /** The device broke. */
    DEVICE_FATAL,
    /** A port came up. */
    PORT_ACTIVE,
    /** A port went down. */
    PORT_ERROR,
    /** A port's local identifier changed. */
    LID_CHANGE,
    /** A port's partition keys changed. */
    PARTITION_KEY_CHANGE,
    /** The subnet manager changed. */
    SUBNET_MANAGER_CHANGE,
    /** A shared receive queue broke. */
    SHARED_RECEIVE_QUEUE_ERROR,
    /** A shared receive queue is low on buffers. */
    SHARED_RECEIVE_QUEUE_LIMIT,
    /** A queue pair takes no more from its shared receive queue. */
    LAST_WORK_REQUEST_REACHED,
    /** The subnet manager wants clients to register anew. */
    CLIENT_REREGISTER,
    /** A port's global identifiers changed. */
    GID_CHANGE,
    /** A work queue broke. */
    WORK_QUEUE_FATAL,
    /** One that this version does not know. */
    UNKNOWN;

    static Type of(int code) {
      return code >= 0 && code < UNKNOWN.ordinal() ? values()[code] : UNKNOWN;
    }
  }
}
