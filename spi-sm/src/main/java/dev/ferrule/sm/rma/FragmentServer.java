// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static dev.ferrule.sm.os.RawMemory.ALL;
import static dev.ferrule.sm.rma.RmaLayout.INT;
import static dev.ferrule.sm.rma.RmaLayout.LONG;

import dev.ferrule.sm.ring.CorruptRingException;

/**
 * The target of fragments: copies, for a peer that cannot do it by itself, between the peer's
 * buffer and what this side exposes. Fragments are handled in the order in which they were
 * submitted.
 *
 * <p>Nothing that the peer has written is read twice or used before it is checked.
 *
 * <p>Only the endpoint's thread uses one.
 */
public class FragmentServer {

  private static final int AT_ONCE = 16;

  /**
   * How long to look for the next fragment before going to sleep: about as long as it takes to be
   * woken up, so that looking in vain costs no more than that. With one processor, the initiator
   * needs it in order to submit any.
   */
  private static final long AWAKE_NANOS =
      Runtime.getRuntime().availableProcessors() > 1 ? 30_000 : 0;

  /** After so many times in vain it does so every 2^n-th time only. */
  private static final int MOST_IN_VAIN = 2;

  private static final int LOOKS_AT_ONCE = 200;
  private static final int MAX_LINES = 1 << 24;

  private final RmaArea own;
  private final RmaArea peer;
  private final RegionTable regions;
  private final Runnable wakeInitiator;
  private int lines; // of the peer's buffer; 0 until there is a fragment in it
  private long handled;
  private boolean awake; // as the peer was told
  private long awakeUntil; // by System.nanoTime
  private int inVain; // how often it was awake and no fragment came, of late
  private int skips; // how often not to stay awake, therefore

  /**
   * Begins with no fragment handled.
   *
   * @param own this side's area
   * @param peer the peer's
   * @param regions what this side exposes
   * @param wakeInitiator tells the peer, who sleeps, that fragments are done
   */
  public FragmentServer(RmaArea own, RmaArea peer, RegionTable regions, Runnable wakeInitiator) {
    this.own = own;
    this.peer = peer;
    this.regions = regions;
    this.wakeInitiator = wakeInitiator;
  }

  /**
   * Handles some of the fragments that wait. After the last one it goes on looking for a while, so
   * that an initiator which submits one after the other does not have to wake this side up each
   * time.
   *
   * @return whether it is to be called again, as there are more, or may soon be
   * @throws CorruptRingException if the peer has written what cannot be
   */
  public boolean serve() {
    boolean any = false;
    for (int i = 0; i < AT_ONCE && isAnyWaiting(); i++) {
      int line = (int) INT.get(ALL, peer.address() + RmaLayout.submission(handled));
      if (lines == 0) {
        readLines();
      }
      serve(line);
      handled++;
      tellHandled();
      any = true;
    }
    if (AWAKE_NANOS == 0 || !any && !awake) {
      return (long) LONG.getVolatile(ALL, peer.address() + RmaLayout.SUBMITTED) != handled;
    }
    long now = System.nanoTime();
    if (any) {
      if (awake) {
        inVain = 0;
      } else if (skips > 0) {
        skips--;
        return (long) LONG.getVolatile(ALL, peer.address() + RmaLayout.SUBMITTED) != handled;
      }
      awakeUntil = now + AWAKE_NANOS;
      setAwake(true);
    } else if (now - awakeUntil >= 0) {
      inVain = Math.min(inVain + 1, MOST_IN_VAIN);
      skips = (1 << inVain) - 1;
      fallsAsleep();
      setAwake(false); // a full fence: whoever submits from now on sees this, or is seen below
      return (long) LONG.getVolatile(ALL, peer.address() + RmaLayout.SUBMITTED) != handled;
    }
    for (int i = 0; i < LOOKS_AT_ONCE && !isAnyWaiting(); i++) {
      Thread.onSpinWait();
    }
    return true;
  }

  /** Nothing was there at the last look; for tests, which submit something just then. */
  void fallsAsleep() {}

  /**
   * Looks whether there are fragments to handle.
   *
   * @return whether there are
   * @throws CorruptRingException if the peer has written what cannot be
   */
  public boolean isAnyWaiting() {
    long submitted = (long) LONG.getAcquire(ALL, peer.address() + RmaLayout.SUBMITTED);
    long waiting = submitted - handled;
    if (waiting < 0 || waiting > RmaLayout.FRAGMENTS) {
      throw new CorruptRingException(
          "it has submitted " + submitted + " fragments, of which " + handled + " are handled");
    }
    return waiting > 0;
  }

  /** One by one, so that the initiator has work as soon as there is any for it. */
  private void tellHandled() {
    // A full fence: whoever submits or sleeps from now on sees this, or is seen below.
    LONG.setVolatile(ALL, own.address() + RmaLayout.HANDLED, handled);
    if ((int) INT.getVolatile(ALL, peer.address() + RmaLayout.INITIATOR_ASLEEP) != 0
        && (int) INT.getAndSet(ALL, peer.address() + RmaLayout.INITIATOR_ASLEEP, 0) != 0) {
      wakeInitiator.run();
    }
  }

  private void setAwake(boolean value) {
    if (awake != value) {
      awake = value;
      INT.setVolatile(ALL, own.address() + RmaLayout.TARGET_AWAKE, value ? 1 : 0);
    }
  }

  /** Looks how many lines the peer's buffer has, when there is a fragment in it. */
  private void readLines() {
    int count = (int) INT.getAcquire(ALL, peer.address() + RmaLayout.BUFFER_LINES);
    if (count < 2 || count > peer.bufferSize() / RmaLayout.LINE) {
      throw new CorruptRingException("it has a buffer of " + count + " lines for fragments");
    }
    lines = count;
  }

  private void serve(int line) {
    if (line < 0 || line >= lines) {
      throw new CorruptRingException("it has submitted a fragment at line " + line);
    }
    long start = (long) line * RmaLayout.LINE;
    long header = peer.bufferAddress() + start;
    int operation = (int) INT.get(ALL, header + RmaLayout.FRAGMENT_OPERATION);
    int id = (int) INT.get(ALL, header + RmaLayout.FRAGMENT_REGION);
    int length = (int) INT.get(ALL, header + RmaLayout.FRAGMENT_LENGTH);
    long generation = (long) LONG.get(ALL, header + RmaLayout.FRAGMENT_GENERATION);
    long offset = (long) LONG.get(ALL, header + RmaLayout.FRAGMENT_OFFSET);
    if (operation != RmaLayout.WRITE && operation != RmaLayout.READ) {
      throw new CorruptRingException("it has submitted a fragment of the operation " + operation);
    }
    long room = (long) lines * RmaLayout.LINE - start - RmaLayout.LINE;
    if (length < 0 || length > Math.min(room, Fragments.MAX_PAYLOAD)) {
      throw new CorruptRingException("it has submitted a fragment of " + length + " bytes");
    }
    ExposedRegion region = regions.find(id);
    int status =
        region == null
            ? RmaLayout.NO_REGION
            : region.copy(operation, generation, offset, header + RmaLayout.LINE, length);
    INT.set(ALL, header + RmaLayout.FRAGMENT_STATUS, status);
  }
}
