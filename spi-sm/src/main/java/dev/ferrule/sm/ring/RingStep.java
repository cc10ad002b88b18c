// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

/**
 * A point between two stores of a sender or receiver that other threads may see, at which it may
 * stop forever: its thread is suspended, or its process is killed. At no point does its stop block
 * another thread. {@link RingSteps} is where tests stop it.
 */
public enum RingStep {
  /** A sender has written its message, and neither stored nor kept the header. */
  RECORD_WRITTEN,
  /** A sender has staged a message, and not published the first staged header. */
  RECORD_STAGED,

  /** A sender has completed its reservation. */
  SENDER_RESERVED,
  /** A sender has published, and not checked whether the receiver sleeps. */
  SENDER_PUBLISHED,
  /** A sender has seen that the receiver sleeps, and not woken it. */
  SENDER_WAKES,
  /** A sender has marked the flag of a receiver that sleeps on it, and not woken it. */
  SENDER_MARKED,
  /** A sender has woken the receiver, and not cleared its flag. */
  SENDER_HAS_WOKEN,

  /** The receiver has found a message. */
  RECEIVER_FOUND,
  /** The receiver has consumed a message, and not published its count. */
  RECEIVER_TAKEN,
  /** The receiver has published its consumed count, and not checked whether the sender sleeps. */
  RECEIVER_ACKNOWLEDGED,
  /** The receiver has released lines, and not checked whether the sender sleeps. */
  RECEIVER_RELEASED,
  /** The receiver has cleared the flag of the sender, and not woken it. */
  RECEIVER_WAKES,

  /** A receiver that found no message is about to announce its sleep. */
  SLEEP_BEGINS,
  /** It has announced its sleep, perhaps not to all senders yet, and not looked again. */
  SLEEP_ANNOUNCED,
  /** A receiver has looked for a message in a ring, and found none. */
  NOTHING_FOUND,
  /** A receiver has looked whether a sender has woken it, and may sleep. */
  SLEEP_CHECKED,
  /** A receiver is about to revoke the announcement. */
  SLEEP_ENDS,

  /** The sending end of a ring is about to be created. */
  OPENING_PRODUCER,
  /** The receiving end of a ring is about to be created. */
  OPENING_CONSUMER
}
