// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.MessageHandler;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;

/**
 * Receives the messages of a stream in the way that the test requests, and checks that each one is
 * the next in order.
 */
final class NumberedReceiver {

  /** All ways in which a {@link Receiver} receives. */
  enum Way {
    RECEIVE,
    RECEIVE_WITH_TIMEOUT,
    TRY_RECEIVE,
    POLL,
    POLL_WITH_TIMEOUT
  }

  private final Receiver receiver;
  private final MessageStream stream;
  private final MessageHandler handler;
  private long next;

  NumberedReceiver(Connection connection, MessageStream stream) {
    this.receiver = connection.receiver();
    this.stream = stream;
    this.handler = (buffer, offset, length) -> stream.verify(buffer, offset, length, next++);
  }

  /** Returns the number of messages that have arrived. */
  long count() {
    return next;
  }

  /** Waits for the next message and checks it. */
  void receive(Way way) {
    if (way == Way.POLL) {
      while (poll(1) == 0) {
        Contract.idle();
      }
      return;
    }
    if (way == Way.POLL_WITH_TIMEOUT) {
      assertThat(receiver.poll(handler, 1, Contract.PATIENCE)).isEqualTo(1);
      return;
    }
    ReceiveRegion message = hold(way);
    receiver.free(message);
  }

  /** Waits until the given number of messages has arrived in total. */
  void receiveUpTo(long count, Way way) {
    while (next < count) {
      receive(way);
    }
  }

  /**
   * Waits until the given number of messages has arrived in total, and their sender has ended;
   * checks that no further message arrives.
   */
  void receiveAll(long count, Way way, Background<?> sending) {
    receiveUpTo(count, way);
    sending.result();
    expectNoMore();
  }

  /** Receives the messages that have arrived, without waiting; returns how many. */
  int poll(int limit) {
    return receiver.poll(handler, limit);
  }

  /** Waits for the next message, checks it and does not free it. */
  ReceiveRegion hold(Way way) {
    ReceiveRegion message = take(way);
    stream.verify(message.buffer(), message.offset(), message.length(), next++);
    return message;
  }

  /** Frees a message that was held. */
  void free(ReceiveRegion message) {
    receiver.free(message);
  }

  /** Checks that no further message has arrived. */
  void expectNoMore() {
    assertThatThrownBy(() -> receiver.receive(Contract.LASTING))
        .isInstanceOf(OperationTimeoutException.class);
  }

  private ReceiveRegion take(Way way) {
    switch (way) {
      case RECEIVE:
        return receiver.receive();
      case RECEIVE_WITH_TIMEOUT:
        return receiver.receive(Contract.PATIENCE);
      case TRY_RECEIVE:
        ReceiveRegion message = receiver.tryReceive();
        while (message == null) {
          Contract.idle();
          message = receiver.tryReceive();
        }
        return message;
      default:
        throw new AssertionError(way + " does not return regions");
    }
  }
}
