// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.rdma.queue.SendProtocol;
import dev.ferrule.sendrecv.wire.Immediate;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import java.lang.foreign.MemorySegment;

/**
 * The send protocol of {@code sendrecv}: messages are SENDs. Each message consumes one credit; its
 * immediate data grants credits to the peer.
 */
final class CreditedSends implements SendProtocol {

  private final Window window;
  private final SendOperation operation;
  private long reserved; // messages that have a credit but are not posted
  private long sent; // messages posted in total

  CreditedSends(Window window) {
    this.window = window;
    this.operation = window.plain() ? SendOperation.SEND : SendOperation.SEND_WITH_IMMEDIATE;
  }

  @Override
  public boolean tryReserve(int length) {
    if (!hasCredit()) {
      return false;
    }
    reserved++;
    return true;
  }

  @Override
  public int reserveAhead(int length, int most) {
    int count = Math.clamp(window.grantedByPeer() - sent - reserved, 0, most);
    reserved += count;
    return count;
  }

  @Override
  public int maxClaimed() {
    return window.maxClaimed();
  }

  @Override
  public void unreserve(int length, int count) {
    reserved -= count;
  }

  @Override
  public SendOperation messageOperation() {
    return operation;
  }

  @Override
  public void prepare(SendChain chain, int index, int reservedLength, int length) {
    chain.setImmediate(index, window.immediate(Immediate.MESSAGE));
    reserved--;
    sent++;
  }

  @Override
  public boolean isAllBack() {
    return hasCredit();
  }

  private boolean hasCredit() {
    return sent + reserved < window.grantedByPeer();
  }

  @Override
  public boolean isReportDue() {
    return window.isGrantDue();
  }

  @Override
  public boolean isReportPending() {
    return window.isGrantOwed();
  }

  @Override
  public boolean mayReport() {
    return window.mayGrant();
  }

  @Override
  public SendOperation controlOperation() {
    return operation; // plain mode has no control messages
  }

  @Override
  public int prepareReport(SendChain chain, int index, MemorySegment memory, long offset) {
    chain.setImmediate(index, window.immediate(Immediate.GRANT));
    return 0;
  }

  @Override
  public int prepareEnd(SendChain chain, int index, MemorySegment memory, long offset) {
    chain.setImmediate(index, window.immediate(Immediate.END));
    return 0;
  }

  @Override
  public boolean saysGoodbye() {
    return !window.plain();
  }

  @Override
  public int prepareGoodbye(SendChain chain, int index, MemorySegment memory, long offset) {
    chain.setImmediate(index, window.immediate(Immediate.GOODBYE));
    return 0;
  }
}
