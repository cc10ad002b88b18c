// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import java.lang.foreign.MemorySegment;

/**
 * The sending half of a protocol: when a message may be sent, and what its work request says beside
 * where the bytes are. Beside messages there are control messages: reports, by which a side tells
 * its peer what it has room for by now, and a goodbye. They carry up to {@link SendQueue#LINE}
 * bytes.
 *
 * <p><b>Threads:</b> called under the send queue's lock, unless it says otherwise. What it reads of
 * the receiving half is written by other threads.
 */
public interface SendProtocol {

  /**
   * Takes what a message needs of the peer: credit, or memory there.
   *
   * @param length the message's length in bytes
   * @return false if the peer has not got it now; nothing is taken then
   */
  boolean tryReserve(int length);

  /**
   * Gives back what {@link #tryReserve} took, of a message that is not sent.
   *
   * @param length what was reserved, in bytes
   */
  void unreserve(int length);

  /**
   * Returns what a message's work request does. Not under the lock.
   *
   * @return the operation, always the same
   */
  SendOperation messageOperation();

  /**
   * Says in a work request what a message needs: immediate data, and for an RDMA operation where to
   * in the peer's memory. It is posted at once, and in this order.
   *
   * @param chain holds the request
   * @param index which it is
   * @param reservedLength what was reserved for the message, in bytes
   * @param length how long it is, no longer than that
   */
  void prepare(SendChain chain, int index, int reservedLength, int length);

  /**
   * Tells whether the peer has given back all that was sent, so that there is nothing to wait for.
   *
   * @return whether it has
   */
  boolean isAllBack();

  /**
   * Tells whether it is time to report to the peer; called for every look at the receive queue. Not
   * under the lock.
   *
   * @return whether it is
   */
  boolean isReportDue();

  /**
   * Tells whether there is anything new to report, though it may not be time to; called now and
   * then. Not under the lock.
   *
   * @return whether there is
   */
  default boolean isReportOwed() {
    return isReportDue();
  }

  /**
   * Tells whether the peer is ready to take another report.
   *
   * @return whether it is
   */
  boolean mayReport();

  /**
   * Returns what a control message's work request does, {@link SendOperation#SEND} with or without
   * immediate data. Not under the lock.
   *
   * @return the operation, always the same
   */
  SendOperation controlOperation();

  /**
   * Says in a work request what this side has room for by now. It is posted at once.
   *
   * @param chain holds the request
   * @param index which it is
   * @param memory where the bytes go, if there are any
   * @param offset where in it; {@link SendQueue#LINE} bytes from there are the request's own until
   *     it is done
   * @return the number of bytes
   */
  int prepareReport(SendChain chain, int index, MemorySegment memory, long offset);

  /**
   * Tells whether there is a goodbye. Not under the lock.
   *
   * @return whether there is; if not, a peer that disconnects has closed the connection
   */
  boolean saysGoodbye();

  /**
   * Says goodbye in a work request. It is posted at once.
   *
   * @param chain holds the request
   * @param index which it is
   * @param memory where the bytes go, if there are any
   * @param offset where in it, as with a report
   * @return the number of bytes
   */
  int prepareGoodbye(SendChain chain, int index, MemorySegment memory, long offset);
}
