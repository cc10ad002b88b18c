// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

/**
 * An asynchronous event of a device, from {@code ibv_get_async_event(3)}.
 *
 * @param type the type
 * @param code the type's number in C
 * @param element the address of the queue or queue pair, or the number of the port
 */
public record AsyncEvent(Type type, int code, long element) {

  /** The type of an event, in the order of {@code enum ibv_event_type}. */
  public enum Type {
    /** A completion queue overflowed or is in error. */
    COMPLETION_QUEUE_ERROR,
    /** A queue pair is in error. */
    QUEUE_PAIR_FATAL,
    /** A request of the peer was invalid. */
    QUEUE_PAIR_REQUEST_ERROR,
    /** A request of the peer violated access rights. */
    QUEUE_PAIR_ACCESS_ERROR,
    /** A message arrived before the connection was established. */
    COMMUNICATION_ESTABLISHED,
    /** The send queue is drained. */
    SEND_QUEUE_DRAINED,
    /** The connection migrated to its alternate path. */
    PATH_MIGRATED,
    /** The connection failed to migrate to its alternate path. */
    PATH_MIGRATION_ERROR,
    /** The device is in a fatal state. */
    DEVICE_FATAL,
    /** A port became active. */
    PORT_ACTIVE,
    /** A port became unavailable. */
    PORT_ERROR,
    /** A port's local identifier changed. */
    LID_CHANGE,
    /** A port's partition keys changed. */
    PARTITION_KEY_CHANGE,
    /** The subnet manager changed. */
    SUBNET_MANAGER_CHANGE,
    /** A shared receive queue is in error. */
    SHARED_RECEIVE_QUEUE_ERROR,
    /** The number of receives in a shared receive queue fell below its limit. */
    SHARED_RECEIVE_QUEUE_LIMIT,
    /** A queue pair in the error state consumes no more receives of its shared receive queue. */
    LAST_WORK_REQUEST_REACHED,
    /** The subnet manager requests clients to reregister. */
    CLIENT_REREGISTER,
    /** A port's global identifiers changed. */
    GID_CHANGE,
    /** A work queue is in error. */
    WORK_QUEUE_FATAL,
    /** A type unknown to this version. */
    UNKNOWN;

    static Type of(int code) {
      return code >= 0 && code < UNKNOWN.ordinal() ? values()[code] : UNKNOWN;
    }
  }
}
