// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.WaitStrategy;
import dev.ferrule.support.Interleavings.Steps;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that no interleaving of a thread that falls asleep with another one loses a wake-up. */
@Tag("interleaving")
class WaiterInterleavingTest {

  private static final class Closed extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  /** A message that a peer sends, which wakes the receiver if that has requested it. */
  private static class Message implements Waiter.Condition {
    final Waiter waiter;
    final Permit permit = new Permit();
    volatile boolean arrived;
    volatile boolean armed;
    volatile boolean closed;
    volatile boolean released;

    Message(Waiter waiter) {
      this.waiter = waiter;
    }

    @Override
    public boolean isReady() {
      if (closed) {
        throw new Closed();
      }
      Interleavings.check(!released, "the memory is read after its release");
      return arrived;
    }

    @Override
    public void arm() {
      armed = true;
    }

    @Override
    public boolean isArmed() {
      return armed;
    }

    @Override
    public void disarm() {
      armed = false;
    }

    @Override
    public void block(long nanos) {
      permit.take();
    }

    @Override
    public void unblock(Thread sleeper) {
      permit.give();
    }

    @Override
    public RuntimeException interrupted() {
      return new IllegalStateException("interrupted");
    }

    final Steps receiving() {
      return new Steps() {
        @Override
        public void run() {
          Interleavings.check(waiter.await(Message.this, Deadlines.NEVER), "timed out");
        }
      };
    }

    final Steps sending() {
      return new Steps() {
        @Override
        public void run() {
          arrived = true;
          if (armed) {
            armed = false;
            waiter.wake();
          }
        }
      };
    }

    /**
     * A peer's process sends the wake-up, which another thread passes on, and clears the request.
     */
    final Steps sendingAndClearingLate() {
      return new Steps() {
        @Override
        public void run() {
          arrived = true;
          if (armed) {
            waiter.wake();
            armed = false;
          }
        }
      };
    }

    /** Wakes the receiver for another reason than a message. */
    final Steps waking() {
      return new Steps() {
        @Override
        public void run() {
          waiter.wake();
        }
      };
    }
  }

  @Test
  void aMessageThatArrivesWhileItsReceiverFallsAsleepWakesIt() {
    Interleavings.explore(() -> {
      Message message = new Message(new Waiter(WaitStrategy.BLOCK));
      Interleavings.runAll(message.receiving(), message.sending());
    });
  }

  @Test
  void aSenderThatClearsTheRequestLateWakesTheReceiver() {
    Interleavings.explore(() -> {
      Message message = new Message(new Waiter(WaitStrategy.BLOCK));
      Interleavings.runAll(message.receiving(), message.sendingAndClearingLate(), message.waking());
    });
  }

  @Test
  void aConditionThatChangesWithoutARequestIsSeenAfterAWakeUp() {
    Interleavings.explore(() -> {
      Message message = new Message(new Waiter(WaitStrategy.BLOCK));
      Interleavings.runAll(
          message.receiving(),
          new Steps() {
            @Override
            public void run() {
              message.arrived = true;
              message.waiter.wake();
            }
          });
    });
  }

  @Test
  void noThreadWaitsAnyMoreWhenACloseHasAwaitedIt() {
    Interleavings.explore(() -> {
      Message message = new Message(new Waiter(WaitStrategy.BLOCK));
      Interleavings.runAll(
          new Steps() {
            @Override
            public void run() {
              message.closed = true;
              message.waiter.awaitNoWaiters(Long.MAX_VALUE);
              message.released = true;
            }
          },
          new Steps() {
            @Override
            public void run() {
              try {
                boolean ignored = message.waiter.await(message, Deadlines.NEVER);
                Interleavings.check(false, "no message arrives");
              } catch (Closed e) {
                // as expected
              }
            }
          });
    });
  }
}
