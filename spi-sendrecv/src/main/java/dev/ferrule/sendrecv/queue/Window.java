// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.sendrecv.wire.Immediate;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The credits of both directions of a connection, as numbers that only grow. A side may send a
 * message when it has sent fewer than its peer has granted, so a receive is posted for each message
 * that can come.
 *
 * <p>Control messages (grants, goodbye) need receives, too: {@value #CONTROL_RECEIVES} are set
 * aside for them, and a side has no more than {@value #CONTROLS_AT_ONCE} grants on their way that
 * the peer has not confirmed by a number in a message of its own. That is enough: a peer that could
 * send nothing for want of credit has taken all grants, and what it sends on the strength of them
 * confirms them.
 *
 * <p><b>Threads:</b> each number is written by one thread at a time; see the fields.
 */
final class Window {

  /** Receives that are posted for control messages. */
  static final int CONTROL_RECEIVES = 4;

  /** Grants on their way at a time. */
  static final int CONTROLS_AT_ONCE = 2;

  /** More at once can only be a count that went backwards. */
  private static final int MAX_GRANT = 0x7fff;

  private final boolean plain;
  private final boolean used;
  private final int capacity;
  private final int peerCapacity;

  // Counters, each of which is written by one thread at a time. They are only released, as a full
  // fence for each would cost more than the rest; whoever wakes a sleeper has one before that.

  // What this side may send; written by whoever polls the receive queue.
  private final AtomicLong grantedByPeer = new AtomicLong();
  private final AtomicLong controlsTakenByPeer = new AtomicLong();

  // What the peer may send.
  private final AtomicLong reposted =
      new AtomicLong(); // by the receiver's thread: could be granted
  private final AtomicLong received = new AtomicLong(); // by whoever polls the receive queue
  private final AtomicLong controlsTaken = new AtomicLong(); // by whoever posts them again
  private final AtomicLong told = new AtomicLong(); // under the send queue's lock: was granted
  private final AtomicLong controlsTold = new AtomicLong(); // under the send queue's lock
  private long controlsReceived; // by whoever polls the receive queue
  private long controlsSent; // under the send queue's lock

  /**
   * Opens the window.
   *
   * @param plain whether messages carry no immediate data at all
   * @param used whether there are credits; without, everything may be sent at any time
   * @param capacity for how many messages this side has posted receives
   * @param peerCapacity for how many the peer has
   */
  Window(boolean plain, boolean used, int capacity, int peerCapacity) {
    this.plain = plain;
    this.used = used && !plain;
    this.capacity = capacity;
    this.peerCapacity = peerCapacity;
    this.grantedByPeer.set(peerCapacity);
    this.reposted.set(capacity);
    this.told.set(capacity);
  }

  boolean plain() {
    return plain;
  }

  /** How many messages this side may have sent, ever. */
  long grantedByPeer() {
    return used ? grantedByPeer.getAcquire() : Long.MAX_VALUE;
  }

  /** Whether the peer has given back every credit, so that there is none to wait for. */
  boolean isAllBack(long sent) {
    return !used || grantedByPeer.getAcquire() - sent >= peerCapacity;
  }

  /**
   * Takes in the numbers of a message that came.
   *
   * @return false if they cannot be right
   */
  boolean take(int immediate) {
    if (!used) {
      return true;
    }
    int granted = Immediate.newlyGranted(immediate, grantedByPeer.getPlain());
    int controls = Immediate.newControlsTaken(immediate, controlsTakenByPeer.getPlain());
    if (granted > MAX_GRANT || controls > CONTROLS_AT_ONCE + 1) {
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

  /** A message came, and takes up a receive; false if it had no credit. */
  boolean messageReceived() {
    return add(received, 1) <= told.getAcquire() || !used;
  }

  /** A control message came; false if there are more than an honest peer has under way. */
  boolean controlReceived() {
    controlsReceived++;
    return controlsReceived - controlsTold.getAcquire() <= CONTROL_RECEIVES;
  }

  /** A control message came, and its receive is posted again. */
  void controlTaken() {
    add(controlsTaken, 1);
  }

  /** Receives of messages are posted again. */
  void reposted(int count) {
    add(reposted, count);
    VarHandle.fullFence(); // whoever polls sees this, or is seen to have used up the peer's credit
  }

  /** Whether the peer can send nothing more until it is granted something, or hardly anything. */
  boolean isPeerStarving() {
    return used
        ? received.getAcquire() == told.getAcquire()
        : received.getAcquire() >= reposted.getAcquire(); // it sends, and its device repeats
  }

  /** Whether it is time to grant by a message of its own. */
  boolean isGrantDue() {
    if (!used) {
      return false;
    }
    long granted = told.getAcquire();
    long owed = reposted.getAcquire() - granted;
    return owed > 0 && (2 * owed >= capacity || received.getAcquire() == granted);
  }

  /** Whether there is anything to grant, though it may not be time to. */
  boolean isGrantOwed() {
    return used && reposted.getAcquire() > told.getAcquire();
  }

  /** Whether another grant may be on its way; under the send queue's lock. */
  boolean mayGrant() {
    return controlsSent - controlsTakenByPeer.getAcquire() < CONTROLS_AT_ONCE;
  }

  /** The numbers to go with a message that is sent now; under the send queue's lock. */
  int immediate(int type) {
    long now = reposted.getAcquire();
    told.setRelease(now);
    if (type != Immediate.MESSAGE) {
      controlsSent++;
    }
    long controls = controlsTaken.getAcquire();
    controlsTold.setRelease(controls);
    return Immediate.of(type, now, controls);
  }

  private static long add(AtomicLong counter, long count) {
    long sum = counter.getPlain() + count;
    counter.setRelease(sum);
    return sum;
  }
}
