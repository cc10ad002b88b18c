// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.support.Interleavings;
import dev.ferrule.support.Interleavings.Steps;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that each message is taken once and in order, even while the receiver changes. */
@Tag("interleaving")
class MessageQueueInterleavingTest {

  private static final int CAPACITY = 2;

  /** Any channel; its own messages are not used. */
  private static final Channel CHANNEL = FakeChannel.any();

  private static final class Queue {
    final MessageQueue messages = new MessageQueue(CAPACITY);
    final ReceiveMultiplexer common = new ReceiveMultiplexer(new NoWake());
    volatile int added;
    volatile int bytes;
    volatile boolean ownHasClaimed;
    volatile boolean commonHasClaimed;
    final boolean[] taken = new boolean[2 * CAPACITY + 1];

    void add(int message) {
      if (messages.add(message, 10 * message)) {
        added++;
        bytes += 10 * message;
      }
    }

    /** Takes a message; returns its number, or 0. */
    int take() {
      long message = messages.take();
      if (message == MessageQueue.NONE) {
        return 0;
      }
      int number = MessageQueue.number(message);
      Interleavings.check(MessageQueue.length(message) == 10 * number, "length of " + number);
      Interleavings.check(!taken[number], "taken twice: " + number);
      taken[number] = true;
      return number;
    }

    void takeRest() {
      while (messages.hasNext()) {
        take();
      }
      int count = 0;
      for (boolean one : taken) {
        count += one ? 1 : 0;
      }
      Interleavings.check(count == added, "taken " + count + " of " + added);
      Interleavings.check(messages.bytesTaken() == bytes, "bytes: " + messages.bytesTaken());
    }

    Steps adding() {
      return new Steps() {
        @Override
        public void run() {
          for (int message = 1; message <= CAPACITY + 1; message++) {
            add(message);
          }
        }
      };
    }

    Steps takingInOrder() {
      return new Steps() {
        @Override
        public void run() {
          int last = 0;
          for (int i = 0; i <= CAPACITY; i++) {
            int message = take();
            Interleavings.check(message == 0 || message > last, message + " after " + last);
            last = Math.max(last, message);
          }
        }
      };
    }

    Steps taking() {
      return new Steps() {
        @Override
        public void run() {
          take();
          take();
        }
      };
    }

    /** The common receiver ends, and the connection's own one takes over. */
    Steps takingOver() {
      return new Steps() {
        @Override
        public void run() {
          common.end();
          Interleavings.check(messages.claim(), "the common receiver has ended");
          take();
          take();
        }
      };
    }

    ReceiveMultiplexer.Node node() {
      return new ReceiveMultiplexer.Node(common, CHANNEL);
    }
  }

  private static final class NoWake implements Runnable {
    @Override
    public void run() {}
  }

  @Test
  void messagesAreTakenOnceAndInOrderWhileOthersArrive() {
    Interleavings.explore(() -> {
      Queue queue = new Queue();
      Interleavings.runAll(queue.adding(), queue.takingInOrder());
      queue.takeRest();
    });
  }

  @Test
  void noMessageIsTakenTwiceOrLostWhenTheOwnReceiverTakesOver() {
    Interleavings.explore(() -> {
      Queue queue = new Queue();
      Interleavings.check(queue.messages.claim(queue.node()), "not claimed");
      queue.add(1);
      queue.add(2);
      Interleavings.runAll(queue.taking(), queue.takingOver());
      queue.takeRest();
    });
  }

  @Test
  void oneOfTwoReceiversClaimsTheMessages() {
    Interleavings.explore(() -> {
      Queue queue = new Queue();
      Interleavings.runAll(
          new Steps() {
            @Override
            public void run() {
              queue.ownHasClaimed = queue.messages.claim();
            }
          },
          new Steps() {
            @Override
            public void run() {
              queue.commonHasClaimed = queue.messages.claim(queue.node());
            }
          });
      Interleavings.check(queue.ownHasClaimed != queue.commonHasClaimed, "both, or none");
    });
  }
}
