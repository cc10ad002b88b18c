// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import java.lang.foreign.MemorySegment;

/**
 * A fake protocol with a credit for each message. The immediate data is the kind of a message;
 * control messages have no bytes.
 */
final class FakeProtocol implements SendProtocol {

  static final int MESSAGE = 1;
  static final int REPORT = 2;
  static final int GOODBYE = 3;
  static final int END = 4;

  /** Credits that need not be returned. */
  static final int UNLIMITED = Integer.MAX_VALUE;

  private final long credits;
  private long granted;
  private long reserved;
  private long reservedBytes;
  private long sent;

  /** Whether a report is due; each report covers everything. */
  volatile boolean reportDue;

  volatile boolean mayReport = true;
  volatile boolean saysGoodbye = true;
  int maxClaimed = UNLIMITED;

  /**
   * Creates a protocol.
   *
   * @param credits the initial credits
   */
  FakeProtocol(long credits) {
    this.credits = credits;
    this.granted = credits;
  }

  /** Adds a credit. */
  void grant() {
    granted++;
  }

  /** Adds credits. */
  void grant(int more) {
    granted += more;
  }

  /** Returns the sum of the lengths that are reserved. */
  long reservedBytes() {
    return reservedBytes;
  }

  @Override
  public boolean tryReserve(int length) {
    if (sent + reserved >= granted) {
      return false;
    }
    reserved++;
    reservedBytes += length;
    return true;
  }

  @Override
  public int maxClaimed() {
    return maxClaimed;
  }

  @Override
  public int reserveAhead(int length, int most) {
    int count = 0;
    while (count < most && tryReserve(length)) {
      count++;
    }
    return count;
  }

  @Override
  public void unreserve(int length, int count) {
    reserved -= count;
    reservedBytes -= (long) count * length;
  }

  @Override
  public SendOperation messageOperation() {
    return SendOperation.SEND_WITH_IMMEDIATE;
  }

  @Override
  public void prepare(SendChain chain, int index, int reservedLength, int length) {
    chain.setImmediate(index, MESSAGE);
    reserved--;
    reservedBytes -= reservedLength;
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
  public int prepareEnd(SendChain chain, int index, MemorySegment memory, long offset) {
    chain.setImmediate(index, END);
    return 0;
  }

  @Override
  public int prepareGoodbye(SendChain chain, int index, MemorySegment memory, long offset) {
    chain.setImmediate(index, GOODBYE);
    return 0;
  }
}
