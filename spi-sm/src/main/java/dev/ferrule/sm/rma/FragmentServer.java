// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.rma.RmaLayout.INT;
import static dev.ferrule.sm.rma.RmaLayout.LONG;

import dev.ferrule.sm.ring.CorruptRingException;

/**
 * The target of fragments: copies between the peer's buffer and the exposed memory of this side,
 * for a peer that cannot copy one-sidedly, and performs the peer's atomic operations on it.
 * Fragments are handled in the order of their submission.
 *
 * <p>Every value written by the peer is read once and checked before it is used.
 *
 * <p>Confined to the endpoint's thread.
 */
public class FragmentServer {

  private static final int AT_ONCE = 16;

  /**
   * Time of polling for the next fragment before going to sleep: about the cost of a wake-up, so
   * that an unsuccessful poll costs no more than that. With a single processor there is no polling:
   * the initiator needs the processor.
   */
  private static final long AWAKE_NANOS =
      Runtime.getRuntime().availableProcessors() > 1 ? 30_000 : 0;

  /**
   * After n unsuccessful polls, only every 2^n-th opportunity is used; this is the maximum of n.
   */
  private static final int MAX_EMPTY_POLLS = 2;

  private static final int LOOKS_AT_ONCE = 200;

  private final RmaArea own;
  private final RmaArea peer;
  private final RegionTable regions;
  private final Runnable wakeInitiator;
  private int lines; // of the peer's buffer; 0 until there is a fragment in it
  private long handled;
  private boolean awake; // as last published to the peer
  private long awakeUntil; // by System.nanoTime
  private int emptyPolls; // recent polls without a fragment
  private int skips; // polls to skip because of them

  /**
   * Creates a target that has handled no fragment.
   *
   * @param own this side's area
   * @param peer the peer's
   * @param regions this side's exposed regions
   * @param wakeInitiator notifies the sleeping peer that fragments are complete
   */
  public FragmentServer(RmaArea own, RmaArea peer, RegionTable regions, Runnable wakeInitiator) {
    this.own = own;
    this.peer = peer;
    this.regions = regions;
    this.wakeInitiator = wakeInitiator;
  }

  /**
   * Handles some of the pending fragments. After the last one it keeps polling for a while, so that
   * an initiator which submits one after the other does not have to wake this side each time.
   *
   * @return whether it must be called again, as there are more, or may be soon
   * @throws CorruptRingException if a value written by the peer is invalid
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
      publishHandled();
      any = true;
    }
    if (AWAKE_NANOS == 0 || !any && !awake) {
      return hasMore();
    }
    long now = System.nanoTime();
    if (any) {
      if (awake) {
        emptyPolls = 0;
      } else if (skips > 0) {
        skips--;
        return hasMore();
      }
      awakeUntil = now + AWAKE_NANOS;
      setAwake(true);
    } else if (now - awakeUntil >= 0) {
      emptyPolls = Math.min(emptyPolls + 1, MAX_EMPTY_POLLS);
      skips = (1 << emptyPolls) - 1;
      beforeSleep();
      setAwake(false); // a full fence: a later submission sees this, or is seen below
      return hasMore();
    }
    for (int i = 0; i < LOOKS_AT_ONCE && !isAnyWaiting(); i++) {
      Thread.onSpinWait();
    }
    return true;
  }

  private boolean hasMore() {
    return (long) LONG.getVolatile(ALL, peer.address() + RmaLayout.SUBMITTED) != handled;
  }

  /** Called after the last check has found nothing; tests override it to submit a fragment then. */
  void beforeSleep() {}

  /**
   * {@return whether there are fragments to handle}
   *
   * @throws CorruptRingException if a value written by the peer is invalid
   */
  public boolean isAnyWaiting() {
    long submitted = (long) LONG.getAcquire(ALL, peer.address() + RmaLayout.SUBMITTED);
    long waiting = submitted - handled;
    if (waiting < 0 || waiting > RmaLayout.FRAGMENTS) {
      throw new CorruptRingException(
          "invalid count of submitted fragments " + submitted + ", after " + handled + " handled");
    }
    return waiting > 0;
  }

  /** Publishes each fragment alone, so that the initiator can continue as early as possible. */
  private void publishHandled() {
    // A full fence: a peer that later submits or sleeps sees this, or is seen below.
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

  /** Reads the number of lines of the peer's buffer, once there is a fragment in it. */
  private void readLines() {
    int count = (int) INT.getAcquire(ALL, peer.address() + RmaLayout.BUFFER_LINES);
    if (count < 2 || count > peer.bufferSize() / RmaLayout.LINE) {
      throw new CorruptRingException("invalid fragment buffer of " + count + " lines");
    }
    lines = count;
  }

  private void serve(int line) {
    if (line < 0 || line >= lines) {
      throw new CorruptRingException("invalid fragment line " + line);
    }
    long start = (long) line * RmaLayout.LINE;
    long header = peer.bufferAddress() + start;
    int operation = (int) INT.get(ALL, header + RmaLayout.FRAGMENT_OPERATION);
    int id = (int) INT.get(ALL, header + RmaLayout.FRAGMENT_REGION);
    int length = (int) INT.get(ALL, header + RmaLayout.FRAGMENT_LENGTH);
    long generation = (long) LONG.get(ALL, header + RmaLayout.FRAGMENT_GENERATION);
    long offset = (long) LONG.get(ALL, header + RmaLayout.FRAGMENT_OFFSET);
    boolean atomic =
        operation == RmaLayout.FETCH_AND_ADD || operation == RmaLayout.COMPARE_AND_SWAP;
    if (!atomic && operation != RmaLayout.WRITE && operation != RmaLayout.READ) {
      throw new CorruptRingException("invalid fragment operation " + operation);
    }
    long room = (long) lines * RmaLayout.LINE - start - RmaLayout.LINE;
    if (length < 0
        || length > Math.min(room, Fragments.MAX_PAYLOAD)
        || atomic && length != RmaLayout.ATOMIC_PAYLOAD) {
      throw new CorruptRingException("invalid fragment of " + length + " bytes");
    }
    ExposedRegion region = regions.find(id);
    long payload = header + RmaLayout.LINE;
    int status;
    if (region == null) {
      status = RmaLayout.NO_REGION;
    } else if (atomic) {
      status = region.change(operation, generation, offset, payload);
    } else {
      status = region.copy(operation, generation, offset, payload, length);
    }
    INT.set(ALL, header + RmaLayout.FRAGMENT_STATUS, status);
  }
}
