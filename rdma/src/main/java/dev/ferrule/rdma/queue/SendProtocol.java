// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import java.lang.foreign.MemorySegment;

/**
 * The sending half of a protocol: flow control, and the protocol-specific fields of work requests.
 * In addition to messages, a protocol sends control messages: reports, which announce free buffer
 * space to the peer, the end of the messages, and a goodbye. A control message has up to {@link
 * SendQueue#LINE} bytes.
 *
 * <p><b>Threads:</b> called under the send queue's lock unless stated otherwise. Other threads
 * write the state of the receiving half that an implementation reads.
 */
public interface SendProtocol {

  /**
   * Reserves the resources of the peer that a message needs: credit, or memory.
   *
   * @param length the message's length in bytes
   * @return false if the peer lacks them; nothing is reserved then
   */
  boolean tryReserve(int length);

  /**
   * Reserves resources for messages that the program may never send. If the peer lacks them,
   * requests no more from the peer.
   *
   * @param length the length of each message in bytes
   * @param most the number of messages, at most
   * @return the number of messages for which there were resources
   */
  int reserveAhead(int length, int most);

  /**
   * {@return the maximum number of reserved messages of one sender that are neither sent nor
   * staged, a constant}
   */
  default int maxClaimed() {
    return Integer.MAX_VALUE;
  }

  /**
   * Releases the reservations of messages that are not sent.
   *
   * @param length the reserved length of each in bytes
   * @param count the number of messages
   */
  void unreserve(int length, int count);

  /** {@return the operation of a message's work request, a constant} Not under the lock. */
  SendOperation messageOperation();

  /**
   * Sets the fields of a message's work request: immediate data, and the remote address of an RDMA
   * operation. The caller then posts the requests, in the order of the calls.
   *
   * @param chain the chain of the request
   * @param index the index of the request
   * @param reservedLength the reserved length in bytes
   * @param length the message's length in bytes, at most the reserved length
   */
  void prepare(SendChain chain, int index, int reservedLength, int length);

  /**
   * {@return whether waiting for the peer is useless: it has returned all credit or memory, or
   * neither is what a sender lacks}
   */
  boolean isAllBack();

  /**
   * {@return whether a report to the peer is due; called after every poll of the receive queue} Not
   * under the lock.
   */
  boolean isReportDue();

  /**
   * {@return whether there is anything to report, even if no report is due; called periodically}
   * Not under the lock.
   */
  default boolean isReportPending() {
    return isReportDue();
  }

  /** {@return whether the peer can receive another report} */
  boolean mayReport();

  /**
   * {@return the operation of a control message's work request: {@link SendOperation#SEND} with or
   * without immediate data, a constant} Not under the lock.
   */
  SendOperation controlOperation();

  /**
   * Prepares the work request of a report of this side's free buffer space. The caller then posts
   * it.
   *
   * @param chain the chain of the request
   * @param index the index of the request
   * @param memory receives the bytes, if there are any
   * @param offset the offset in the memory; the request owns {@link SendQueue#LINE} bytes from
   *     there until it completes
   * @return the number of bytes
   */
  int prepareReport(SendChain chain, int index, MemorySegment memory, long offset);

  /**
   * Prepares the work request that announces the end of this side's messages, and also reports its
   * free buffer space. The caller then posts it, only once. Called only if the protocol {@link
   * #saysGoodbye}.
   *
   * @param chain the chain of the request
   * @param index the index of the request
   * @param memory receives the bytes, if there are any
   * @param offset the offset in the memory, as for a report
   * @return the number of bytes
   */
  int prepareEnd(SendChain chain, int index, MemorySegment memory, long offset);

  /**
   * Returns whether the protocol has a goodbye. Not under the lock.
   *
   * @return whether it has; if not, a disconnect of the peer means that it has closed the
   *     connection
   */
  boolean saysGoodbye();

  /**
   * Prepares the work request of a goodbye. The caller then posts it.
   *
   * @param chain the chain of the request
   * @param index the index of the request
   * @param memory receives the bytes, if there are any
   * @param offset the offset in the memory, as for a report
   * @return the number of bytes
   */
  int prepareGoodbye(SendChain chain, int index, MemorySegment memory, long offset);
}
