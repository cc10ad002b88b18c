// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

/** How a work request ended. The order is that of {@code enum ibv_wc_status}. */
public enum CompletionStatus {
  /** It is done. */
  SUCCESS("done"),
  /** The message did not fit into the memory of the receive. */
  LOCAL_LENGTH_ERROR("the message is longer than the receive buffer"),
  /** The queue pair could not do it. */
  LOCAL_QUEUE_PAIR_OPERATION_ERROR("the queue pair cannot do this"),
  /** End-to-end contexts are of no use here. */
  LOCAL_EEC_OPERATION_ERROR("end-to-end context error"),
  /** The memory is not registered, or not for this. */
  LOCAL_PROTECTION_ERROR("the memory is not registered for this"),
  /** The queue pair broke before this request was done. */
  FLUSHED("the queue pair is in error, and its requests are flushed"),
  /** A memory window could not be bound. */
  MEMORY_WINDOW_BIND_ERROR("a memory window could not be bound"),
  /** The peer's answer made no sense. */
  BAD_RESPONSE_ERROR("the peer's device answered nonsense"),
  /** Immediate data met memory that may not be written. */
  LOCAL_ACCESS_ERROR("local memory may not be accessed like this"),
  /** The peer's device took the request for invalid. */
  REMOTE_INVALID_REQUEST_ERROR("the peer's device took the request for invalid"),
  /** The peer's memory may not be accessed like this. */
  REMOTE_ACCESS_ERROR("the peer's memory may not be accessed like this"),
  /** The peer's device could not do it. */
  REMOTE_OPERATION_ERROR("the peer's device could not do it"),
  /** The peer did not acknowledge, however often the request was repeated. */
  RETRY_EXCEEDED("the peer's device does not answer"),
  /** The peer had no receive posted, however often the request was repeated. */
  RNR_RETRY_EXCEEDED("the peer had no receive posted (RNR) for too long"),
  /** Reliable datagrams are of no use here. */
  LOCAL_RDD_VIOLATION_ERROR("RD domain violation"),
  /** Reliable datagrams are of no use here. */
  REMOTE_INVALID_RD_REQUEST("invalid RD request"),
  /** The peer gave up. */
  REMOTE_ABORTED("the peer's device aborted the operation"),
  /** End-to-end contexts are of no use here. */
  INVALID_EEC_NUMBER("invalid end-to-end context number"),
  /** End-to-end contexts are of no use here. */
  INVALID_EEC_STATE("invalid end-to-end context state"),
  /** The device broke. */
  FATAL("the device is broken"),
  /** The peer did not answer in time. */
  RESPONSE_TIMEOUT("the peer's device did not answer in time"),
  /** Something else. */
  GENERAL_ERROR("the device reports an error without a name");

  private static final CompletionStatus[] VALUES = values();

  private final String text;

  CompletionStatus(String text) {
    this.text = text;
  }

  /**
   * Returns what the status says.
   *
   * @return the text, without the number
   */
  public String text() {
    return text;
  }

  /**
   * Returns the status that C gives a number.
   *
   * @param code the number
   * @return the status; GENERAL_ERROR for one that this version does not know
   */
  public static CompletionStatus of(int code) {
    return code >= 0 && code < VALUES.length ? VALUES[code] : GENERAL_ERROR;
  }
}
