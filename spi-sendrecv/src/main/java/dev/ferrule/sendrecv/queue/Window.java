// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.sendrecv.wire.Immediate;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The credits of both directions of a connection, as counters that never decrease. A side may send
 * a message if it has sent fewer than the peer has granted. So a receive is posted for each message
 * that can arrive.
 *
 * <p>Control messages (grants, the end, a goodbye) also need receives: {@value #CONTROL_RECEIVES}
 * are reserved for them. Every message reports how many control messages of the peer its sender has
 * received. A side sends a grant
 *
 * <ol>
 *   <li>if fewer than {@value #CONTROLS_AT_ONCE} control messages of its own are unreported, or
 *   <li>if {@value #CONTROLS_AT_ONCE} are, and the grant reports a control message of the peer that
 *       no message has reported before.
 * </ol>
 *
 * <p>The end of a side's messages is announced by a grant of another type, under the same
 * condition.
 *
 * <p>So, including a goodbye, at most {@value #CONTROL_RECEIVES} control messages are unreported,
 * and a receive is posted for each. A side that has received {@value #CONTROLS_AT_ONCE} control
 * messages since its last message sends a grant, even if it grants no credits: otherwise a peer
 * that has used up its grants would wait for a program that sends no messages.
 * docs/protocol-sendrecv.md proves that the two sides cannot block each other.
 *
 * <p><b>Threads:</b> each counter is written by one thread at a time; see the fields.
 */
final class Window {

  /** The number of receives posted for control messages. */
  static final int CONTROL_RECEIVES = 4;

  /**
   * The number of unreported control messages at which a grant may be sent only if it reports one
   * itself.
   */
  static final int CONTROLS_AT_ONCE = 2;

  /** The maximum grant. A larger increment means that the count went backwards. */
  private static final int MAX_GRANT = 0x7fff;

  private final boolean plain;
  private final boolean used;
  private final int maxClaimed;

  // Each counter is written by one thread at a time, by release stores: a full fence per counter
  // would cost more than everything else. reposted and isGrantDue have one where it is needed.

  // What this side may send. Written by the thread that polls the receive queue (polling thread).
  private final AtomicLong grantedByPeer = new AtomicLong();
  private final AtomicLong controlsTakenByPeer = new AtomicLong();

  // What the peer may send.
  private final AtomicLong capacity = new AtomicLong(); // by the reposting thread
  private final AtomicLong reposted =
      new AtomicLong(); // by the reposting thread; these may be granted
  private final AtomicLong received = new AtomicLong(); // by the polling thread
  private final AtomicLong controlsTaken = new AtomicLong(); // by the thread that reposts them
  private final AtomicLong grantedToPeer = new AtomicLong(); // under the send queue's lock
  private final AtomicLong controlsReported = new AtomicLong(); // under the send queue's lock
  private long controlsReceived; // by the polling thread
  private long controlsSent; // under the send queue's lock

  /**
   * Creates a window.
   *
   * @param plain whether messages carry no immediate data at all
   * @param used whether credits are used; if not, a side may send messages at any time
   * @param capacity the number of receives that this side has posted for messages at first
   * @param peerCapacity the number of receives that the peer has posted for messages at first; it
   *     never has fewer than that
   */
  Window(boolean plain, boolean used, int capacity, int peerCapacity) {
    this.plain = plain;
    this.used = used && !plain;
    this.maxClaimed = this.used ? peerCapacity : Integer.MAX_VALUE;
    this.capacity.set(capacity);
    this.grantedByPeer.set(peerCapacity);
    this.reposted.set(capacity);
    this.grantedToPeer.set(capacity);
  }

  boolean plain() {
    return plain;
  }

  /** Returns how many messages this side may have sent in total. */
  long grantedByPeer() {
    return used ? grantedByPeer.getAcquire() : Long.MAX_VALUE;
  }

  /**
   * Returns how many messages the program may claim before it sends any. The peer always returns
   * credit for this many. It returns credit for more only while the connections with which it
   * shares receives use few of them.
   */
  int maxClaimed() {
    return maxClaimed;
  }

  /**
   * Applies the counts in the immediate data of a received message.
   *
   * @return false if they are invalid
   */
  boolean take(int immediate) {
    if (!used) {
      return true;
    }
    int granted = Immediate.newlyGranted(immediate, grantedByPeer.getPlain());
    int controls = Immediate.newControlsTaken(immediate, controlsTakenByPeer.getPlain());
    if (granted > MAX_GRANT || controls > CONTROL_RECEIVES) {
      return false;
    }
    if (granted > 0) {
      add(grantedByPeer, granted);
    }
    if (controls > 0) {
      add(controlsTakenByPeer, controls);
    }
    return true;
  }

  /**
   * Records a received message, which has consumed a receive; returns false if the peer had no
   * credit for it.
   */
  boolean messageReceived() {
    return add(received, 1) <= grantedToPeer.getAcquire() || !used;
  }

  /**
   * Records a received control message; returns false if the peer has more in flight than
   * permitted.
   */
  boolean controlReceived() {
    controlsReceived++;
    return controlsReceived - controlsReported.getAcquire() <= CONTROL_RECEIVES;
  }

  /** Records that the receive of a control message is reposted. */
  void controlReposted() {
    add(controlsTaken, 1);
  }

  /** Records that receives for messages are reposted. */
  void reposted(int count) {
    reposted(count, 0);
  }

  /**
   * Records that receives for messages are reposted, and changes their number.
   *
   * @param count the number of reposted receives
   * @param more the number of receives that are added; negative if some of the reposted ones are no
   *     longer for this connection
   */
  void reposted(int count, int more) {
    add(capacity, more);
    add(reposted, count + more);
    VarHandle.fullFence(); // the other half of this Dekker-style handshake is in isGrantDue
  }

  /** Returns whether the peer can send no messages, or hardly any, before it is granted credits. */
  boolean isPeerStarving() {
    return used
        ? received.getAcquire() == grantedToPeer.getAcquire()
        : received.getAcquire() >= reposted.getAcquire(); // the peer sends, and its device retries
  }

  /**
   * Returns whether a separate message should be sent for a grant. No grant is missed if this is
   * called after each received message, and after receives are reposted.
   */
  boolean isGrantDue() {
    if (!used) {
      return false;
    }
    long granted = grantedToPeer.getAcquire();
    boolean starving = received.getAcquire() == granted;
    if (starving && reposted.getAcquire() == granted) {
      // either this thread sees what another has just reposted, or that one sees what this one has
      // received
      VarHandle.fullFence();
    }
    long owed = reposted.getAcquire() - granted;
    return (owed > 0 && (starving || 2 * owed >= capacity.getAcquire()))
        || controlsToReport() >= CONTROLS_AT_ONCE;
  }

  /** Returns whether a grant would report something, even if it is not due. */
  boolean isGrantOwed() {
    return used
        && (reposted.getAcquire() > grantedToPeer.getAcquire()
            || controlsToReport() >= CONTROLS_AT_ONCE);
  }

  /** Returns whether another grant may be sent now. Under the send queue's lock. */
  boolean mayGrant() {
    long unreported = controlsSent - controlsTakenByPeer.getAcquire();
    return unreported < CONTROLS_AT_ONCE
        || (unreported == CONTROLS_AT_ONCE && controlsToReport() > 0);
  }

  private long controlsToReport() {
    return controlsTaken.getAcquire() - controlsReported.getAcquire();
  }

  /** Returns the immediate data of a message that is sent now. Under the send queue's lock. */
  int immediate(int type) {
    long now = reposted.getAcquire();
    grantedToPeer.setRelease(now);
    if (type != Immediate.MESSAGE) {
      controlsSent++;
    }
    long controls = controlsTaken.getAcquire();
    controlsReported.setRelease(controls);
    return Immediate.of(type, now, controls);
  }

  private static long add(AtomicLong counter, long count) {
    long sum = counter.getPlain() + count;
    counter.setRelease(sum);
    return sum;
  }
}
