// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.verbs.CompletionQueue;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.ZI_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * Tests by jcstress that the writes of one thread are visible to another through the queues. Run by
 * {@link QueueConcurrencyTest}.
 */
public final class QueueStress {

  private QueueStress() {}

  /** A message in the queue is visible completely or not at all. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "not visible yet")
  @Outcome(id = "5, 7", expect = Expect.ACCEPTABLE, desc = "visible")
  @Outcome(expect = Expect.FORBIDDEN, desc = "partly visible")
  @State
  public static class MessageAdd {
    private final MessageQueue queue = new MessageQueue(4);

    /** Polls. */
    @Actor
    public void poller() {
      queue.add(5, 7);
    }

    /**
     * Receives.
     *
     * @param result the received message
     */
    @Actor
    public void receiver(II_Result result) {
      if (queue.hasNext()) {
        long message = queue.take();
        result.r1 = MessageQueue.number(message);
        result.r2 = MessageQueue.length(message);
      }
    }
  }

  /** A slot of the queue is reused only after the receiver has read it. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "the old message; the new one fits")
  @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "the old message; still full")
  @Outcome(expect = Expect.FORBIDDEN, desc = "overwritten while being read")
  @State
  public static class MessageReuse {
    private final MessageQueue queue = new MessageQueue(1);

    /** Fills the queue. */
    public MessageReuse() {
      queue.add(1, 1);
    }

    /**
     * Polls.
     *
     * @param result whether a slot was free
     */
    @Actor
    public void poller(II_Result result) {
      result.r2 = queue.add(2, 2) ? 1 : 0;
    }

    /**
     * Receives.
     *
     * @param result the received message
     */
    @Actor
    public void receiver(II_Result result) {
      result.r1 = MessageQueue.number(queue.take());
    }

    /**
     * Checks the remaining message.
     *
     * @param result -2 if it is wrong
     */
    @Arbiter
    public void after(II_Result result) {
      boolean right =
          queue.hasNext()
              ? result.r2 == 1 && MessageQueue.number(queue.take()) == 2
              : result.r2 == 0;
      if (!right) {
        result.r1 = -2;
      }
    }
  }

  /** The connection's own receiver takes over while the common one takes a message. */
  @JCStressTest
  @Outcome(id = "1, 2, 3", expect = Expect.ACCEPTABLE, desc = "the common one takes the first")
  @Outcome(id = "2, 1, 3", expect = Expect.ACCEPTABLE, desc = "the own one takes the first")
  @Outcome(id = "-1, 1, 1", expect = Expect.ACCEPTABLE, desc = "the common one takes none")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a message is taken twice, lost or miscounted")
  @State
  public static class Succession {
    private final MessageQueue queue = new MessageQueue(2);

    /** Makes a common receiver claim two messages of 1 and 2 bytes, and ends it. */
    public Succession() {
      queue.claim(new ReceiveMultiplexer.Node(new ReceiveMultiplexer(() -> {}), null));
      queue.add(1, 1);
      queue.add(2, 2);
    }

    /**
     * Receives by the common receiver.
     *
     * @param result the received message
     */
    @Actor
    public void common(III_Result result) {
      result.r1 = number(queue.take());
    }

    /**
     * Receives by the connection's own receiver.
     *
     * @param result the received message
     */
    @Actor
    public void own(III_Result result) {
      long message;
      do {
        message = queue.take();
      } while (message == MessageQueue.NONE);
      result.r2 = number(message);
    }

    /**
     * Reads the number of bytes.
     *
     * @param result the number of bytes taken
     */
    @Arbiter
    public void after(III_Result result) {
      result.r3 = (int) queue.bytesTaken();
    }

    private static int number(long message) {
      return message == MessageQueue.NONE ? -1 : MessageQueue.number(message);
    }
  }

  /** Writes under the lock are visible to its next holder. */
  @JCStressTest
  @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "one after the other")
  @Outcome(expect = Expect.FORBIDDEN, desc = "at the same time")
  @State
  public static class Lock {
    private final SpinLock lock = new SpinLock();
    private int sum;

    /** Acquires the lock. */
    @Actor
    public void waits() {
      lock.lock();
      sum++;
      lock.unlock();
    }

    /** Tries to acquire the lock, and waits for it otherwise. */
    @Actor
    public void tries() {
      if (!lock.tryLock()) {
        lock.lock();
      }
      sum++;
      lock.unlock();
    }

    /**
     * Reads the sum.
     *
     * @param result the sum
     */
    @Arbiter
    public void after(I_Result result) {
      result.r1 = sum;
    }
  }

  /**
   * Either the thread that takes a completion handles the channel, or the thread that is handling
   * it sees the completion; see {@link Channel#linkCompleted}.
   */
  @JCStressTest
  @Outcome(id = "false, 0", expect = Expect.FORBIDDEN, desc = "no thread handles it")
  @Outcome(expect = Expect.ACCEPTABLE, desc = "a thread handles it")
  @State
  public static class Touch {
    private final Channel channel = FakeChannel.any();
    private int taken;

    /** Links the channel for an earlier completion. */
    public Touch() {
      channel.linkCompleted(null);
    }

    /**
     * Takes a completion.
     *
     * @param result whether this thread has to handle the channel
     */
    @Actor
    public void poller(ZI_Result result) {
      taken = 1;
      result.r1 = channel.linkCompleted(null);
    }

    /**
     * Handles the earlier completion.
     *
     * @param result the value that it sees
     */
    @Actor
    public void earlier(ZI_Result result) {
      channel.unlinkCompleted();
      result.r2 = taken;
    }
  }

  /**
   * Either a thread that falls asleep finds the message that another thread polls, or the other
   * thread sees that it sleeps. The message arrived before the event was requested, so it causes no
   * event.
   */
  @JCStressTest
  @Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "the wake-up is missed")
  @Outcome(expect = Expect.ACCEPTABLE, desc = "the message is found, or the sleeper woken")
  @State
  public static class Sleep {
    private final RecordingCallbacks callbacks =
        new RecordingCallbacks() {
          @Override
          public void onProgress() {
            woken = asleep;
          }
        };
    private final ReceiveQueue queue;
    private final Channel channel;
    private volatile boolean asleep;
    private volatile boolean woken;

    /** Creates a queue with a message. */
    public Sleep() {
      ScriptedDevice device = new ScriptedDevice();
      CompletionQueue completions = device.completionQueue();
      channel = FakeChannel.on(device, 7, device.completionQueue(), callbacks, 1);
      queue = ReceiveQueue.ofOne(completions, 1);
      queue.add(channel);
      device.received(completions, 7, 1, 1, FakeChannel.MESSAGE);
    }

    /**
     * Polls, such as a sender that looks for credits.
     *
     * @param result whether the sleeper was woken
     */
    @Actor
    public void poller(ZZ_Result result) {
      queue.poll();
      result.r1 = woken;
    }

    /**
     * Falls asleep.
     *
     * @param result whether there is a message
     */
    @Actor
    public void sleeper(ZZ_Result result) {
      asleep = true;
      queue.arm();
      queue.poll();
      result.r2 = channel.messages().hasNext();
    }
  }
}
