// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.WaitStrategy;
import dev.ferrule.posix.RawMemory;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.rdma.fake.UnusedVerbsCalls;
import dev.ferrule.support.Deadlines;
import dev.ferrule.support.Interleavings;
import dev.ferrule.support.Interleavings.Steps;
import dev.ferrule.support.Permit;
import dev.ferrule.support.Waiter;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.libibverbs.ibv_wc;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that a common receiver misses no message and takes none twice while it falls asleep, while
 * connections enter and leave the rotation, and while they are added and closed.
 */
@Tag("interleaving")
class ReceiveMultiplexerInterleavingTest {

  private static final int CAPACITY = 4;

  /**
   * The fraction of the interleavings that each scenario runs. A scenario creates many objects,
   * which takes long.
   */
  private static final int QUEUE_SHARE = 2;

  private static final int LIST_SHARE = 8;

  /**
   * Creates the native objects, which no scenario changes. A scenario creates all other objects
   * itself.
   */
  private static final ScriptedDevice RESOURCES = new ScriptedDevice();

  private static final CompletionQueue SENDS = RESOURCES.completionQueue();
  private static final SendMemory SEND_MEMORY = RESOURCES.sendMemory(SendQueue.LINE);
  private static final QueuePair[] QUEUE_PAIRS = {
    RESOURCES.queuePair(0), RESOURCES.queuePair(1),
  };
  private static final CompletionQueue RECEIVES =
      RESOURCES.completionQueue(
          new UnusedVerbsCalls() {
            @Override
            public long createCq(long context, int size, long own, long channel, int vector) {
              return 1;
            }

            @Override
            public int pollCq(MemorySegment function, long queue, int limit, long address) {
              return device.poll(address);
            }

            @Override
            public int reqNotifyCq(MemorySegment function, long queue, int solicitedOnly) {
              device.request();
              return 0;
            }
          });

  /** The device of the current scenario. */
  private static Device device = new Device();

  /**
   * Completes receives. A poll takes only one completion, because a batch would hide interleavings
   * between completions.
   */
  private static final class Device {
    private final int[] connections = new int[CAPACITY];
    private int completed;
    private int polled;
    private boolean requested;

    synchronized int poll(long address) {
      if (polled == completed) {
        return 0;
      }
      RawMemory.putInt(address + ibv_wc.qp_num$offset(), connections[polled]);
      RawMemory.putLong(address + ibv_wc.wr_id$offset(), polled);
      RawMemory.putInt(address + ibv_wc.status$offset(), 0);
      polled++;
      return 1;
    }

    synchronized void request() {
      requested = true;
    }

    /** Completes a receive; returns whether it causes an event. */
    synchronized boolean complete(int connection) {
      connections[completed++] = connection;
      boolean event = requested;
      requested = false;
      return event;
    }
  }

  /** A thread that waits for messages. */
  private abstract static class Sleeper implements Waiter.Condition {
    private final Waiter waiter = new Waiter(WaitStrategy.BLOCK);
    private final Permit permit = new Permit();
    private final ReceiveSource source;

    Sleeper(ReceiveSource source) {
      this.source = source;
    }

    abstract boolean hasNext();

    final void await() {
      Interleavings.check(waiter.await(this, Deadlines.NEVER), "timed out");
    }

    final void wake() {
      waiter.wake();
    }

    @Override
    public final boolean isReady() {
      return hasNext() || (source.poll() && hasNext());
    }

    @Override
    public final void arm() {
      source.arm();
    }

    @Override
    public final boolean isArmed() {
      return true;
    }

    @Override
    public final void disarm() {
      source.disarm();
    }

    @Override
    public final void block(long nanos) {
      permit.take();
    }

    @Override
    public final void unblock(Thread sleeper) {
      permit.give();
    }

    @Override
    public final RuntimeException interrupted() {
      return new IllegalStateException("interrupted");
    }
  }

  /** A connection that records the messages taken. */
  private static final class Connection extends IdleChannel {
    private final boolean[] taken = new boolean[CAPACITY];
    private boolean isOwed; // whether space is free that the peer does not know of

    Connection(QueueCallbacks callbacks, int number) {
      super(
          new Parts(QUEUE_PAIRS[number], SENDS, SEND_MEMORY, 1, -1, callbacks),
          new FakeProtocol(FakeProtocol.UNLIMITED),
          CAPACITY);
    }

    @Override
    protected @Nullable String received(CompletionQueue completions, int index) {
      deliver((int) completions.workRequestId(index), 0);
      return null;
    }

    @Override
    protected void freed(int message) {
      isOwed = true;
    }

    @Override
    protected void releaseHeldBackSpace() {
      isOwed = false;
    }

    /** A message arrives, as the only completion of a poll. */
    void bring(int message) {
      deliver(message, 0);
      afterPoll();
    }

    /** Takes and frees the next message; returns false if there is none. */
    boolean take() {
      long message = messages().take();
      if (message == MessageQueue.NONE) {
        return false;
      }
      int number = MessageQueue.number(message);
      Interleavings.check(!taken[number], "taken twice: " + number);
      taken[number] = true;
      free(number);
      return true;
    }
  }

  /** The connection's own receiver, which never sleeps in these tests. */
  private static final class Own extends Sleeper implements QueueCallbacks {
    private final Connection connection;

    Own(ReceiveSource source, int number) {
      super(source);
      connection = new Connection(this, number);
    }

    @Override
    boolean hasNext() {
      return connection.messages().hasNext();
    }

    @Override
    public void onProgress() {
      wake();
    }

    @Override
    public void onGoodbye() {
      throw new IllegalStateException("goodbye");
    }

    @Override
    public void onSendFailure(CompletionStatus status, int vendorError) {
      throw new IllegalStateException("send: " + status);
    }

    @Override
    public void onAccessFailure(CompletionStatus status, int vendorError) {
      throw new IllegalStateException("access: " + status);
    }

    @Override
    public void onReceiveFailure(CompletionStatus status, int vendorError) {
      throw new IllegalStateException("receive: " + status);
    }

    @Override
    public void onViolation(String reason) {
      throw new IllegalStateException(reason);
    }

    @Override
    public void onCallFailure(String function, int errno) {
      throw new IllegalStateException(function);
    }
  }

  /** The common receiver. */
  private static final class Common extends Sleeper {
    private final ReceiveMultiplexer multiplexer =
        new ReceiveMultiplexer(
            new Runnable() {
              @Override
              public void run() {
                wake();
              }
            });
    private @Nullable Channel next;

    Common(ReceiveSource source) {
      super(source);
    }

    @Override
    boolean hasNext() {
      next = multiplexer.next();
      return next != null;
    }

    /** Takes the message that was found. */
    void takeNext() {
      if (next instanceof Connection connection) {
        connection.take();
      }
    }
  }

  /** The receivers of a listener. Only the connections that a scenario needs are created. */
  private static final class Listener {
    private final ReceiveQueue queue = new ReceiveQueue(RECEIVES, new Strays(), 1);
    private final Common common = new Common(queue);
    private final Own[] own;

    Listener(int connections) {
      device = new Device();
      own = new Own[connections];
      for (int i = 0; i < connections; i++) {
        own[i] = new Own(queue, i);
      }
    }

    /** Creates a listener whose common receiver takes the messages of all connections. */
    static Listener collected(int connections) {
      Listener listener = new Listener(connections);
      for (Own one : listener.own) {
        one.connection.deliverTo(listener.common.multiplexer);
      }
      return listener;
    }

    /** Creates a listener with two connections that have a message and are not in the rotation. */
    static Listener withMessages() {
      Listener listener = collected(2);
      listener.common.hasNext();
      for (Own one : listener.own) {
        one.connection.deliver(0, 0);
      }
      return listener;
    }

    void offer(int connection) {
      ReceiveMultiplexer.Node node = own[connection].connection.messages().node();
      if (node != null) {
        node.offer();
      }
    }

    Steps offering(int connection) {
      return new Steps() {
        @Override
        public void run() {
          offer(connection);
        }
      };
    }

    /** Adds the connections and the common receiver to the queue. */
    Listener queued() {
      queue.collect(common.multiplexer);
      for (Own one : own) {
        queue.add(one.connection);
      }
      return this;
    }

    /** The peer sends a message, and the event loop handles the event if there is one. */
    void send(int connection) {
      if (device.complete(connection)) {
        queue.onEvent();
      }
    }

    Steps sending(int connection) {
      return new Steps() {
        @Override
        public void run() {
          send(connection);
        }
      };
    }

    /** Messages of a connection arrive, in a poll each. */
    void arrive(int connection, int... messages) {
      for (int message : messages) {
        own[connection].connection.bring(message);
      }
    }

    Steps arriving(int connection, int... messages) {
      return new Steps() {
        @Override
        public void run() {
          arrive(connection, messages);
        }
      };
    }

    /** The common receiver waits for a message. */
    Steps receiving() {
      return new Steps() {
        @Override
        public void run() {
          common.await();
          common.takeNext();
        }
      };
    }

    /** The common receiver looks for messages. */
    Steps looking(int times) {
      return new Steps() {
        @Override
        public void run() {
          for (int i = 0; i < times; i++) {
            if (common.hasNext()) {
              common.takeNext();
            }
          }
        }
      };
    }

    /**
     * Makes the common receiver take the rest, and checks that a connection's messages were taken.
     */
    void check(int connection, int messages) {
      queue.drain();
      while (common.hasNext()) {
        common.takeNext();
      }
      Connection checked = own[connection].connection;
      long taken = checked.messages().messagesTaken();
      Interleavings.check(taken == messages, "taken " + taken + " of " + messages);
      Interleavings.check(!checked.isOwed, "the peer starves");
    }
  }

  private static final class Strays implements IntConsumer {
    @Override
    public void accept(int receive) {
      throw new IllegalStateException("of no connection: " + receive);
    }
  }

  @Test
  void aMessageThatArrivesWhileTheCommonReceiverFallsAsleepWakesIt() {
    Interleavings.exploreShare(
        QUEUE_SHARE,
        () -> {
          Listener listener = new Listener(1).queued();
          Interleavings.runAll(listener.receiving(), listener.sending(0));
          listener.check(0, 1);
        });
  }

  @Test
  void aMessageThatArrivesWhileItsConnectionLeavesTheRotationIsTaken() {
    Interleavings.exploreShare(
        LIST_SHARE,
        () -> {
          Listener listener = Listener.collected(1);
          listener.arrive(0, 0);
          Interleavings.runAll(listener.looking(3), listener.arriving(0, 1, 2));
          listener.check(0, 3);
        });
  }

  @Test
  void noneOfTheConnectionsThatEnterTheRotationTogetherIsLost() {
    Interleavings.exploreShare(
        LIST_SHARE,
        () -> {
          Listener listener = Listener.withMessages();
          Interleavings.runAll(listener.offering(0), listener.offering(1), listener.looking(1));
          listener.check(0, 1);
          listener.check(1, 1);
        });
  }

  @Test
  void aConnectionThatTwoThreadsOfferEntersTheRotationOnce() {
    Interleavings.exploreShare(
        LIST_SHARE,
        () -> {
          Listener listener = Listener.withMessages();
          listener.offer(1);
          Interleavings.runAll(listener.offering(0), listener.offering(0));
          listener.check(0, 1);
          listener.check(1, 1);
        });
  }

  @Test
  void aConnectionThatIsAddedWhenTheCommonReceiverStartsIsInTheRotation() {
    Interleavings.exploreShare(
        QUEUE_SHARE,
        () -> {
          Listener listener = new Listener(1);
          Interleavings.runAll(
              new Steps() {
                @Override
                public void run() {
                  listener.queue.add(listener.own[0].connection);
                  listener.send(0);
                  listener.queue.poll();
                }
              },
              new Steps() {
                @Override
                public void run() {
                  listener.queue.collect(listener.common.multiplexer);
                  listener.common.await();
                  listener.common.takeNext();
                }
              });
          listener.check(0, 1);
        });
  }

  @Test
  void aClosedConnectionRemovesNoOtherFromTheRotation() {
    Interleavings.exploreShare(
        LIST_SHARE,
        () -> {
          Listener listener = Listener.collected(2);
          listener.arrive(0, 0, 1);
          Interleavings.runAll(
              listener.looking(1),
              listener.arriving(1, 0),
              new Steps() {
                @Override
                public void run() {
                  listener.own[0].connection.closeReceives();
                }
              });
          Interleavings.check(
              listener.common.multiplexer.next() != listener.own[0].connection, "it is closed");
          listener.check(1, 1);
        });
  }
}
