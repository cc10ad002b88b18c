// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.sendrecv.wire.Immediate;

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

  // What this side may send; written by whoever polls the receive queue.
  private volatile long grantedByPeer;
  private volatile long controlsTakenByPeer;

  // What the peer may send.
  private volatile long reposted; // by the receiver's thread: how much could be granted by now
  private volatile long received; // by whoever polls the receive queue
  private volatile long controlsTaken; // by whoever polls the receive queue
  private volatile long told; // under the send queue's lock: how much was granted
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
    this.grantedByPeer = peerCapacity;
    this.reposted = capacity;
    this.told = capacity;
  }

  boolean plain() {
    return plain;
  }

  /** How many messages this side may have sent, ever. */
  long grantedByPeer() {
    return used ? grantedByPeer : Long.MAX_VALUE;
  }

  /** Whether the peer has given back every credit, so that there is none to wait for. */
  boolean isAllBack(long sent) {
    return !used || grantedByPeer - sent >= peerCapacity;
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
    int granted = Immediate.newlyGranted(immediate, grantedByPeer);
    int controls = Immediate.newControlsTaken(immediate, controlsTakenByPeer);
    if (granted > MAX_GRANT || controls > CONTROLS_AT_ONCE + 1) {
      return false;
    }
    if (granted > 0) {
      grantedByPeer += granted;
    }
    if (controls > 0) {
      controlsTakenByPeer += controls;
    }
    return true;
  }

  /** A message came, and takes up a receive; false if it had no credit. */
  boolean messageReceived() {
    long count = received + 1;
    received = count;
    return !used || count <= told;
  }

  /** A control message came, and its receive is posted again. */
  void controlTaken() {
    controlsTaken++;
  }

  /** Receives of messages are posted again. */
  void reposted(int count) {
    reposted += count;
  }

  /** Whether the peer can send nothing more until it is granted something. */
  boolean isPeerStarving() {
    return used && received == told;
  }

  /** Whether it is time to grant by a message of its own. */
  boolean isGrantDue() {
    if (!used) {
      return false;
    }
    long owed = reposted - told;
    return owed > 0 && (2 * owed >= capacity || received == told);
  }

  /** Whether another grant may be on its way; under the send queue's lock. */
  boolean mayGrant() {
    return controlsSent - controlsTakenByPeer < CONTROLS_AT_ONCE;
  }

  /** The numbers to go with a message that is sent now; under the send queue's lock. */
  int immediate(int type) {
    long now = reposted;
    told = now;
    if (type != Immediate.MESSAGE) {
      controlsSent++;
    }
    return Immediate.of(type, now, controlsTaken);
  }
}
