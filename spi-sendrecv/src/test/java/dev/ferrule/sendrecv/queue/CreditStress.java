// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.sendrecv.wire.Immediate;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * What threads may see of each other through credits and buffers that come back, for jcstress; run
 * by {@link CreditConcurrencyTest}.
 */
public final class CreditStress {

  private CreditStress() {}

  /** A buffer goes from one thread to another as it is, or not yet. */
  @JCStressTest
  @Outcome(id = "5, 6", expect = Expect.ACCEPTABLE, desc = "both")
  @Outcome(id = "5, -1", expect = Expect.ACCEPTABLE, desc = "one")
  @Outcome(id = "-1, 5", expect = Expect.ACCEPTABLE, desc = "one, a bit later")
  @Outcome(id = "-1, -1", expect = Expect.ACCEPTABLE, desc = "none yet")
  @Outcome(expect = Expect.FORBIDDEN, desc = "something else")
  @State
  public static class Ring {
    private final BufferRing ring = new BufferRing(2);

    /** Gives. */
    @Actor
    public void giver() {
      ring.add(5);
      ring.add(6);
    }

    /**
     * Takes.
     *
     * @param result what there was
     */
    @Actor
    public void taker(II_Result result) {
      result.r1 = ring.poll();
      result.r2 = ring.poll();
    }
  }

  /** Buffers that are posted again while a message is sent are granted by it or by the next one. */
  @JCStressTest
  @Outcome(id = "8, 9", expect = Expect.ACCEPTABLE, desc = "by the next one")
  @Outcome(id = "9, 9", expect = Expect.ACCEPTABLE, desc = "by this one")
  @Outcome(expect = Expect.FORBIDDEN, desc = "lost")
  @State
  public static class Credit {
    private final Window window = new Window(false, true, 8, 8);

    /** Frees. */
    @Actor
    public void receiver() {
      window.reposted(1);
    }

    /**
     * Sends.
     *
     * @param result what was granted
     */
    @Actor
    public void sender(II_Result result) {
      result.r1 = Immediate.newlyGranted(window.immediate(Immediate.MESSAGE), 0);
    }

    /**
     * Sends once more.
     *
     * @param result what was granted
     */
    @Arbiter
    public void next(II_Result result) {
      result.r2 = Immediate.newlyGranted(window.immediate(Immediate.MESSAGE), 0);
    }
  }

  /** A message that came on the strength of a grant is never one too many. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "the peer was not granted it yet")
  @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "it came, and was right")
  @Outcome(expect = Expect.FORBIDDEN, desc = "an honest peer is accused")
  @State
  public static class Granted {
    private final Window window = new Window(false, true, 0, 8);
    private volatile int wire;

    /** Grants; by the sender's thread. */
    @Actor
    public void sender() {
      window.reposted(1);
      wire = Immediate.newlyGranted(window.immediate(Immediate.GRANT), 0);
    }

    /**
     * Polls what the peer sends at once.
     *
     * @param result what came, and whether it was right
     */
    @Actor
    public void poller(II_Result result) {
      result.r1 = wire;
      result.r2 = result.r1 == 1 && window.messageReceived() ? 1 : 0;
    }
  }

  /** A peer that uses up its credit while a buffer is posted again is granted it by somebody. */
  @JCStressTest
  @Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "the peer starves")
  @Outcome(expect = Expect.ACCEPTABLE, desc = "somebody notices")
  @State
  public static class Starvation {
    private final Window window = new Window(false, true, 8, 8);

    /** Lets the peer have credit for one more message. */
    public Starvation() {
      for (int i = 0; i < 7; i++) {
        window.messageReceived();
      }
    }

    /**
     * Polls, as the receive queue does.
     *
     * @param result whether it grants
     */
    @Actor
    public void poller(ZZ_Result result) {
      window.messageReceived();
      VarHandle.fullFence();
      result.r1 = window.isGrantDue();
    }

    /**
     * Posts a buffer again.
     *
     * @param result whether it grants
     */
    @Actor
    public void receiver(ZZ_Result result) {
      window.reposted(1);
      result.r2 = window.isGrantDue();
    }
  }
}
