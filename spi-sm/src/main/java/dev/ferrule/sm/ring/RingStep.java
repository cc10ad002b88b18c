// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

/**
 * A point between two stores of a sender or receiver that others may see, at which it may stop for
 * ever: its thread is suspended, or its process is killed. Whatever the point, nobody else has to
 * wait for it. The ends of a ring tell that they have got there by methods that do nothing, and
 * that tests override.
 */
public enum RingStep {
  /** One of several senders has marked some of the lines that it takes, and not all. */
  SHARED_LINES_PARTLY_TAKEN,
  /** One of several senders has taken lines, and no record. */
  SHARED_LINES_TAKEN,
  /** One of several senders has claimed all that it needs. */
  SHARED_CLAIMED,
  /** One of several senders has taken an entry of the release ring, and not freed the lines. */
  SHARED_RELEASE_TAKEN,
  /** One of several senders has freed lines, and not told those who wait. */
  SHARED_RELEASE_FREED,
  /** One of several senders has written its message, and not looked for a record. */
  SHARED_COMMITTED,
  /** One of several senders has found the next record, and not swapped its word. */
  SHARED_RECORD_FOUND,
  /** One of several senders has swapped the word, and not advanced the tail. */
  SHARED_PUBLISHED,
  /** One of several senders has advanced the tail, and not looked whether the receiver sleeps. */
  SHARED_TAIL_ADVANCED,
  /** One of several senders has seen that the receiver sleeps, and not told it. */
  SHARED_RECEIVER_ASLEEP,
  /** One of several senders has told the receiver, and not put out its flag. */
  SHARED_RECEIVER_TOLD,
  /** One of several senders has given back the lines of an aborted claim, and not its record. */
  SHARED_ABORTED_LINES,
  /** One of several senders has given back an aborted claim, and not told those who wait. */
  SHARED_ABORTED,

  /** The only sender has claimed all that it needs. */
  SENDER_RESERVED,
  /** The only sender has written its message, and not stored or noted the header. */
  SENDER_WRITTEN,
  /** The only sender has staged a message, and not published the first header of what is staged. */
  SENDER_STAGED,
  /** The only sender has published, and not looked whether the receiver sleeps. */
  SENDER_PUBLISHED,
  /** The only sender has put out the flag of the receiver, and not told it. */
  SENDER_WAKES,

  /** The receiver has found a message. */
  RECEIVER_FOUND,
  /** The receiver has taken a message, and not said so. */
  RECEIVER_TAKEN,
  /** The receiver has said what it took, and not looked whether the sender sleeps. */
  RECEIVER_ACKNOWLEDGED,
  /** The receiver has given back lines, and not looked whether the sender sleeps. */
  RECEIVER_RELEASED,
  /** The receiver has put out the flag of the sender, and not told it. */
  RECEIVER_WAKES
}
