// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.concurrency;

import dev.ferrule.lab.compare.transport.Transport;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;

/** The traffic of each connection. */
enum Workload {
  /** The client sends without a pause, as far as buffer space permits. */
  STREAM(256) {
    @Override
    void answer(Transport transport, int size, IdleStrategy idle) {}

    @Override
    void run(Transport transport, int size) {
      IdleStrategy idle = new BackoffIdleStrategy();
      for (long value = 1; ; value++) {
        send(transport, value, size, idle);
      }
    }
  },

  /** The client sends a message and waits for its echo. */
  ECHO(1) {
    @Override
    void answer(Transport transport, int size, IdleStrategy idle) {
      send(transport, transport.lastValue(), size, idle);
    }

    @Override
    void run(Transport transport, int size) {
      IdleStrategy idle = new BackoffIdleStrategy();
      for (long value = 1; ; value++) {
        send(transport, value, size, idle);
        idle.reset();
        while (transport.poll(1) == 0) {
          idle.idle(); // reached only by transports that cannot block
        }
        if (transport.lastValue() != value) {
          throw new IllegalStateException(
              "message " + value + " was echoed as " + transport.lastValue());
        }
      }
    }
  };

  private final int pollLimit;

  Workload(int pollLimit) {
    this.pollLimit = pollLimit;
  }

  /** Runs the server's side of a connection until it ends; counts the messages received. */
  void serve(Transport transport, AtomicLong received, int size) {
    IdleStrategy idle = new BackoffIdleStrategy();
    while (true) {
      int taken = transport.poll(pollLimit);
      if (taken > 0) {
        received.setOpaque(received.getPlain() + taken);
        answer(transport, size, idle);
      }
      idle.idle(taken);
    }
  }

  /** Sends the server's answer to a poll that has received messages. */
  abstract void answer(Transport transport, int size, IdleStrategy idle);

  /** Runs the client's side of a connection until it ends. */
  abstract void run(Transport transport, int size);

  private static void send(Transport transport, long value, int size, IdleStrategy idle) {
    idle.reset();
    while (!transport.trySend(value, size)) {
      idle.idle();
    }
  }
}
