// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.ZI_Result;

/**
 * What threads may see of each other through the queues, for jcstress; run by {@link
 * QueueConcurrencyTest}.
 */
public final class QueueStress {

  private QueueStress() {}

  /** A message in the inbox is seen with all that is known of it, or not at all. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "not there yet")
  @Outcome(id = "5, 7", expect = Expect.ACCEPTABLE, desc = "there")
  @Outcome(expect = Expect.FORBIDDEN, desc = "half of it")
  @State
  public static class InboxAdd {
    private final Inbox inbox = new Inbox(4);

    /** Polls. */
    @Actor
    public void poller() {
      inbox.add(5, 7);
    }

    /**
     * Receives.
     *
     * @param result what was received
     */
    @Actor
    public void receiver(II_Result result) {
      if (inbox.hasNext()) {
        result.r1 = inbox.nextNumber();
        result.r2 = inbox.nextLength();
      }
    }
  }

  /** A place in the inbox is only used again when the receiver has read what was there. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "the old message; the new one fits")
  @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "the old message; still full")
  @Outcome(expect = Expect.FORBIDDEN, desc = "overwritten while it was read")
  @State
  public static class InboxReuse {
    private final Inbox inbox = new Inbox(1);

    /** Fills the inbox. */
    public InboxReuse() {
      inbox.add(1, 1);
      inbox.hasNext();
    }

    /**
     * Polls.
     *
     * @param result whether there was room
     */
    @Actor
    public void poller(II_Result result) {
      result.r2 = inbox.add(2, 2) ? 1 : 0;
    }

    /**
     * Receives.
     *
     * @param result what was received
     */
    @Actor
    public void receiver(II_Result result) {
      result.r1 = inbox.nextNumber();
      inbox.advance();
    }

    /**
     * Looks what is left.
     *
     * @param result what is wrong, if anything is
     */
    @Arbiter
    public void after(II_Result result) {
      boolean right = inbox.hasNext() ? result.r2 == 1 && inbox.nextNumber() == 2 : result.r2 == 0;
      if (!right) {
        result.r1 = -2;
      }
    }
  }

  /** What is done under the lock is seen by the next one who has it. */
  @JCStressTest
  @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "one after the other")
  @Outcome(expect = Expect.FORBIDDEN, desc = "at the same time")
  @State
  public static class Lock {
    private final SpinLock lock = new SpinLock();
    private int sum;

    /** Waits for it. */
    @Actor
    public void waits() {
      lock.lock();
      sum++;
      lock.unlock();
    }

    /** Takes it if it is free, and waits for it otherwise. */
    @Actor
    public void tries() {
      if (!lock.tryLock()) {
        lock.lock();
      }
      sum++;
      lock.unlock();
    }

    /**
     * Looks at the sum.
     *
     * @param result the sum
     */
    @Arbiter
    public void after(I_Result result) {
      result.r1 = sum;
    }
  }

  /**
   * Who takes a completion looks after the channel, or whoever else does sees what was taken; see
   * {@link Channel#touch}.
   */
  @JCStressTest
  @Outcome(id = "false, 0", expect = Expect.FORBIDDEN, desc = "nobody looks after it")
  @Outcome(expect = Expect.ACCEPTABLE, desc = "somebody does")
  @State
  public static class Touch {
    private final Channel channel = FakeChannel.any();
    private int taken;

    /** Has the channel touched by an earlier completion. */
    public Touch() {
      channel.touch(null);
    }

    /**
     * Takes a completion.
     *
     * @param result whether it is to look after the channel
     */
    @Actor
    public void poller(ZI_Result result) {
      taken = 1;
      result.r1 = channel.touch(null);
    }

    /**
     * Looks after the earlier completion.
     *
     * @param result what it sees
     */
    @Actor
    public void earlier(ZI_Result result) {
      channel.untouch();
      result.r2 = taken;
    }
  }
}
