// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

/** The received messages of one connection. */
final class OwnMessages implements IncomingMessages {

  private final Channel channel;
  private final Inbox inbox;

  OwnMessages(Channel channel, Inbox inbox) {
    this.channel = channel;
    this.inbox = inbox;
  }

  @Override
  public boolean claim() {
    return inbox.claim() || (channel.isCommonReceiverEnded() && inbox.claimBack());
  }

  @Override
  public boolean hasNext() {
    return inbox.hasNext() && !channel.isClosed();
  }

  @Override
  public Channel channel() {
    return channel;
  }

  @Override
  public int number() {
    return inbox.nextNumber();
  }

  @Override
  public int length() {
    return inbox.nextLength();
  }

  @Override
  public void advance() {
    inbox.advance();
  }
}
