// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.sendrecv.wire.Immediate;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * Tests the visibility of credits and returned buffers between threads, by jcstress. Run by {@link
 * CreditConcurrencyTest}.
 */
public final class CreditStress {

  private CreditStress() {}

  /** A buffer number that another thread takes is intact. */
  @JCStressTest
  @Outcome(id = "5, 6", expect = Expect.ACCEPTABLE, desc = "both")
  @Outcome(id = "5, -1", expect = Expect.ACCEPTABLE, desc = "one")
  @Outcome(id = "-1, 5", expect = Expect.ACCEPTABLE, desc = "one, a bit later")
  @Outcome(id = "-1, -1", expect = Expect.ACCEPTABLE, desc = "none yet")
  @Outcome(expect = Expect.FORBIDDEN, desc = "something else")
  @State
  public static class Ring {
    private final BufferRing ring = new BufferRing(2);

    /** Adds two buffers. */
    @Actor
    public void giver() {
      ring.add(5);
      ring.add(6);
    }

    /**
     * Takes two buffers.
     *
     * @param result the buffers taken
     */
    @Actor
    public void taker(II_Result result) {
      result.r1 = ring.poll();
      result.r2 = ring.poll();
    }
  }

  /** Buffers reposted while a message is sent are granted by that message or by the next one. */
  @JCStressTest
  @Outcome(id = "8, 9", expect = Expect.ACCEPTABLE, desc = "by the next one")
  @Outcome(id = "9, 9", expect = Expect.ACCEPTABLE, desc = "by this one")
  @Outcome(expect = Expect.FORBIDDEN, desc = "lost")
  @State
  public static class Credit {
    private final Window window = new Window(false, true, 8, 8);

    /** Reposts a buffer. */
    @Actor
    public void receiver() {
      window.reposted(1);
    }

    /**
     * Sends a message.
     *
     * @param result the number granted
     */
    @Actor
    public void sender(II_Result result) {
      result.r1 = Immediate.newlyGranted(window.immediate(Immediate.MESSAGE), 0);
    }

    /**
     * Sends another message.
     *
     * @param result the number granted
     */
    @Arbiter
    public void next(II_Result result) {
      result.r2 = Immediate.newlyGranted(window.immediate(Immediate.MESSAGE), 0);
    }
  }

  /** A message sent with a granted credit is never counted as one without credit. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "the peer was not granted it yet")
  @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "the message arrived and had credit")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a correct peer is accused of a violation")
  @State
  public static class Granted {
    private final Window window = new Window(false, true, 0, 8);
    private volatile int wire;

    /** Grants a credit; by the sender's thread. */
    @Actor
    public void sender() {
      window.reposted(1);
      wire = Immediate.newlyGranted(window.immediate(Immediate.GRANT), 0);
    }

    /**
     * Receives a message that the peer sends as soon as it has the credit.
     *
     * @param result whether it arrived, and whether it had credit
     */
    @Actor
    public void poller(II_Result result) {
      result.r1 = wire;
      result.r2 = result.r1 == 1 && window.messageReceived() ? 1 : 0;
    }
  }

  /**
   * If a peer uses up its credit while a buffer is reposted, one of the two threads grants the new
   * credit.
   */
  @JCStressTest
  @Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "the peer starves")
  @Outcome(expect = Expect.ACCEPTABLE, desc = "at least one thread grants")
  @State
  public static class Starvation {
    private final Window window = new Window(false, true, 8, 8);

    /** Leaves the peer credit for one more message. */
    public Starvation() {
      for (int i = 0; i < 7; i++) {
        window.messageReceived();
      }
    }

    /**
     * Polls, as the receive queue does.
     *
     * @param result whether a grant is due
     */
    @Actor
    public void poller(ZZ_Result result) {
      window.messageReceived();
      result.r1 = window.isGrantDue();
    }

    /**
     * Reposts a buffer.
     *
     * @param result whether a grant is due
     */
    @Actor
    public void receiver(ZZ_Result result) {
      window.reposted(1);
      result.r2 = window.isGrantDue();
    }
  }
}
