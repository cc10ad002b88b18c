// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import java.lang.foreign.MemorySegment;

/**
 * A protocol that needs nothing of the peer but a credit for each message. The immediate data says
 * which kind a message is; control messages have no bytes.
 */
final class FakeProtocol implements SendProtocol {

  static final int MESSAGE = 1;
  static final int REPORT = 2;
  static final int GOODBYE = 3;

  /** So many that none has to come back. */
  static final int UNLIMITED = Integer.MAX_VALUE;

  private final long credits;
  private long granted;
  private long reserved;
  private long sent;

  /** Whether a report is due; each of them says all that there is to tell. */
  volatile boolean reportDue;

  volatile boolean mayReport = true;
  volatile boolean saysGoodbye = true;

  /**
   * Makes a protocol.
   *
   * @param credits how many messages the peer takes at first
   */
  FakeProtocol(long credits) {
    this.credits = credits;
    this.granted = credits;
  }

  /** The peer has room for one more message. */
  void grant() {
    granted++;
  }

  @Override
  public boolean tryReserve(int length) {
    if (sent + reserved >= granted) {
      return false;
    }
    reserved++;
    return true;
  }

  @Override
  public void unreserve(int length) {
    reserved--;
  }

  @Override
  public SendOperation messageOperation() {
    return SendOperation.SEND_WITH_IMMEDIATE;
  }

  @Override
  public void prepare(SendChain chain, int index, int reservedLength, int length) {
    chain.setImmediate(index, MESSAGE);
    reserved--;
    sent++;
    reportDue = false;
  }

  @Override
  public boolean isAllBack() {
    return credits == UNLIMITED || granted - sent >= credits;
  }

  @Override
  public boolean isReportDue() {
    return reportDue;
  }

  @Override
  public boolean mayReport() {
    return mayReport;
  }

  @Override
  public SendOperation controlOperation() {
    return SendOperation.SEND_WITH_IMMEDIATE;
  }

  @Override
  public int prepareReport(SendChain chain, int index, MemorySegment memory, long offset) {
    chain.setImmediate(index, REPORT);
    reportDue = false;
    return 0;
  }

  @Override
  public boolean saysGoodbye() {
    return saysGoodbye;
  }

  @Override
  public int prepareGoodbye(SendChain chain, int index, MemorySegment memory, long offset) {
    chain.setImmediate(index, GOODBYE);
    return 0;
  }
}
