// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

/** The status of a completion, in the order of {@code enum ibv_wc_status}. */
public enum CompletionStatus {
  /** The work request succeeded. */
  SUCCESS("success"),
  /** The message is longer than the receive buffer. */
  LOCAL_LENGTH_ERROR("the message is longer than the receive buffer"),
  /** The queue pair cannot execute the request. */
  LOCAL_QUEUE_PAIR_OPERATION_ERROR("the queue pair cannot execute the request"),
  /** End-to-end contexts are not used. */
  LOCAL_EEC_OPERATION_ERROR("end-to-end context error"),
  /** Local memory of the request is not registered, or lacks the access right. */
  LOCAL_PROTECTION_ERROR("local memory is not registered, or lacks the access right"),
  /** The queue pair entered the error state before this request completed. */
  FLUSHED("the queue pair is in the error state and the request was flushed"),
  /** A memory window could not be bound. */
  MEMORY_WINDOW_BIND_ERROR("a memory window could not be bound"),
  /** The peer's response is invalid. */
  BAD_RESPONSE_ERROR("the peer's device sent an invalid response"),
  /** Local memory lacks the access right for an RDMA WRITE with immediate data of the peer. */
  LOCAL_ACCESS_ERROR(
      "local memory lacks the access right for the peer's WRITE with immediate data"),
  /** The peer's device rejected the request as invalid. */
  REMOTE_INVALID_REQUEST_ERROR("the peer's device rejected the request as invalid"),
  /** The peer's device has rejected the key, the range or the access right. */
  REMOTE_ACCESS_ERROR("the peer's device rejected the key, the range or the access right"),
  /** The peer's device could not execute the request. */
  REMOTE_OPERATION_ERROR("the peer's device could not execute the request"),
  /** The peer acknowledged none of the retransmissions. */
  RETRY_EXCEEDED("retransmissions exceeded: the peer's device does not answer"),
  /** The peer had no receive posted at any of the RNR retries. */
  RNR_RETRY_EXCEEDED("RNR retries exceeded: the peer had no receive posted"),
  /** Reliable datagrams are not used. */
  LOCAL_RDD_VIOLATION_ERROR("RD domain violation"),
  /** Reliable datagrams are not used. */
  REMOTE_INVALID_RD_REQUEST("invalid RD request"),
  /** The peer's device aborted the operation. */
  REMOTE_ABORTED("the peer's device aborted the operation"),
  /** End-to-end contexts are not used. */
  INVALID_EEC_NUMBER("invalid end-to-end context number"),
  /** End-to-end contexts are not used. */
  INVALID_EEC_STATE("invalid end-to-end context state"),
  /** The device is in a fatal state. */
  FATAL("the device is in a fatal state"),
  /** The peer's response timed out. */
  RESPONSE_TIMEOUT("timed out waiting for a response of the peer's device"),
  /** Another error. */
  GENERAL_ERROR("the device reports an unspecified error");

  private static final CompletionStatus[] VALUES = values();

  private final String text;

  CompletionStatus(String text) {
    this.text = text;
  }

  /** {@return the meaning of the status, without the number} */
  public String text() {
    return text;
  }

  /**
   * Returns the status of a number in C.
   *
   * @param code the number
   * @return the status; GENERAL_ERROR for a number unknown to this version
   */
  public static CompletionStatus of(int code) {
    return code >= 0 && code < VALUES.length ? VALUES[code] : GENERAL_ERROR;
  }
}
