// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

/**
 * A point between two stores of a sender or receiver that other threads may see, at which it may
 * stop forever: its thread is suspended, or its process is killed. At no point does its stop block
 * another thread. The ends of a ring report the steps by methods that do nothing, and that tests
 * override.
 */
public enum RingStep {
  /** One of several senders has the lock, and has done nothing yet. */
  SHARED_ENTERED,
  /** One of several senders has published a message, and not counted it. */
  SHARED_PUBLISHED,
  /** One of several senders has counted its message, and not left the lock. */
  SHARED_COUNTED,
  /** One of several senders has left the lock, and not checked whether the receiver sleeps. */
  SHARED_LEFT,
  /** One of several senders has closed a tenure, and not appended the next one. */
  SHARED_LOCK_CLOSED,
  /** One of several senders has waited for the holder of the lock until the policy's limit. */
  SHARED_OUT_OF_PATIENCE,
  /**
   * One of several senders has revoked the records from a stopped one, and not begun to use them.
   */
  SHARED_REPLACED,
  /** One of several senders has reserved a record, and no lines. */
  SHARED_RECORD_RESERVED,
  /** One of several senders has marked some of the lines that it allocates, and not all. */
  SHARED_LINES_PARTLY_TAKEN,
  /** One of several senders has allocated lines, and not counted them. */
  SHARED_LINES_TAKEN,
  /** One of several senders has completed its claim. */
  SHARED_CLAIMED,
  /** One of several senders has consumed an entry of the release ring, and not freed the lines. */
  SHARED_RELEASE_TAKEN,
  /** One of several senders has freed lines, and not woken the waiting threads. */
  SHARED_RELEASE_FREED,
  /** One of several senders has written its message to lines, and not taken the lock. */
  SHARED_COMMITTED,
  /** One of several senders has seen that the receiver sleeps, and not woken it. */
  SHARED_RECEIVER_ASLEEP,
  /** One of several senders has woken the receiver, and not cleared its flag. */
  SHARED_RECEIVER_TOLD,
  /** One of several senders has given back the lines of an aborted claim, and not its record. */
  SHARED_ABORTED_LINES,
  /** One of several senders has given back an aborted claim, and not woken the waiting threads. */
  SHARED_ABORTED,

  /** A sender has written its message, and neither stored nor kept the header. */
  RECORD_WRITTEN,
  /** A sender has staged a message, and not published the first staged header. */
  RECORD_STAGED,

  /** The only sender has completed its reservation. */
  SENDER_RESERVED,
  /** The only sender has published, and not checked whether the receiver sleeps. */
  SENDER_PUBLISHED,
  /** The only sender has cleared the flag of the receiver, and not woken it. */
  SENDER_WAKES,

  /** The receiver has found a message. */
  RECEIVER_FOUND,
  /** The receiver has consumed a message, and not published its count. */
  RECEIVER_TAKEN,
  /** The receiver has published its consumed count, and not checked whether the sender sleeps. */
  RECEIVER_ACKNOWLEDGED,
  /** The receiver has released lines, and not checked whether the sender sleeps. */
  RECEIVER_RELEASED,
  /** The receiver has cleared the flag of the sender, and not woken it. */
  RECEIVER_WAKES
}
