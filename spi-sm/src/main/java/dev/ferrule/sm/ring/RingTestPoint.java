// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

/**
 * A point between two visible stores of a sender or receiver. A thread that stops there forever,
 * because it is suspended or its process is killed, blocks no other thread. Tests set an action for
 * each point by {@link RingTestHook}.
 */
public enum RingTestPoint {
  /** A sender has written its message, but has neither stored nor kept the header. */
  RECORD_WRITTEN,
  /** A sender has staged a message, but not yet published the first staged header. */
  RECORD_STAGED,

  /** A sender has completed its reservation. */
  SENDER_RESERVED,
  /** A sender has published, but not yet checked whether the receiver sleeps. */
  SENDER_PUBLISHED,
  /** A sender has seen that the receiver sleeps, but not yet woken it. */
  SENDER_WAKES,
  /** A sender has marked the flag of a receiver that sleeps on it, but not yet woken it. */
  SENDER_MARKED,
  /** A sender has woken the receiver, but not yet cleared its flag. */
  SENDER_HAS_WOKEN,

  /** The receiver has found a message. */
  RECEIVER_FOUND,
  /** The receiver has consumed a message, but not yet published its count. */
  RECEIVER_TAKEN,
  /**
   * The receiver has published its consumed count, but not yet checked whether the sender sleeps.
   */
  RECEIVER_ACKNOWLEDGED,
  /** The receiver has released lines, but not yet checked whether the sender sleeps. */
  RECEIVER_RELEASED,
  /** The receiver has cleared the flag of the sender, but not yet woken it. */
  RECEIVER_WAKES,

  /** A receiver that found no message is about to announce its sleep. */
  SLEEP_BEGINS,
  /** A receiver has announced its sleep, perhaps not to all senders yet, but not checked again. */
  SLEEP_ANNOUNCED,
  /** A receiver has checked a ring for a message, and found none. */
  NOTHING_FOUND,
  /** A receiver has checked whether a sender has woken it, and may sleep. */
  SLEEP_CHECKED,
  /** A receiver is about to revoke the announcement of its sleep. */
  SLEEP_ENDS,

  /** The sending end of a ring is about to be created. */
  OPENING_PRODUCER,
  /** The receiving end of a ring is about to be created. */
  OPENING_CONSUMER
}
