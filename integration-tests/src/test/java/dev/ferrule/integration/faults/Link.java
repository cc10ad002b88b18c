// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A model of a connection: the messages that were sent, and what each side may observe. */
final class Link {

  /** The messages of one sender that have not been received. */
  static final class Queue {
    final ArrayDeque<String> sent = new ArrayDeque<>(); // the places in Contents
    final ArrayDeque<String> staged = new ArrayDeque<>();
    boolean open = true;

    void publish() {
      sent.addAll(staged);
      staged.clear();
    }
  }

  /** What one side sends to the other. */
  static final class Direction {
    final List<Queue> queues = new ArrayList<>(List.of(new Queue()));
    boolean ended; // by the close of all senders
    int held;
    int behind; // received while another one was held: a ring over RDMA frees their room after it

    /** Returns how many messages must arrive. */
    int sent() {
      return queues.stream().mapToInt(queue -> queue.sent.size()).sum();
    }

    /**
     * Returns the number of messages for which room may be in use. Over RDMA a sender with staged
     * messages may reserve room for as many more until it publishes. The other senders lack that
     * room.
     */
    int inFlight() {
      return held
          + behind
          + queues.stream().mapToInt(q -> q.sent.size() + 2 * q.staged.size()).sum();
    }

    /** Returns whether a message that is sent next is also the next one to be received. */
    boolean mayBeFirst() {
      return !ended && inFlight() == 0;
    }

    /**
     * Removes a received message.
     *
     * @return whether it is the next one of a sender
     */
    boolean receive(String description) {
      for (Queue queue : queues) {
        ArrayDeque<String> next = queue.sent.isEmpty() ? queue.staged : queue.sent;
        if (!next.isEmpty() && Contents.describe(next.getFirst()).equals(description)) {
          next.removeFirst();
          behind += held > 0 ? 1 : 0;
          return true;
        }
      }
      return false;
    }
  }

  final String name;
  final Environment.Variant variant;
  final boolean[] open = {true, true};
  final Direction[] from = {new Direction(), new Direction()};
  final List<ExposedPiece> pieces = new ArrayList<>();
  boolean mayEnd; // at any time, due to a fault
  @Nullable String end; // the exception at the side that is still open, when the other has ended

  Link(String name, Environment.Variant variant) {
    this.name = name;
    this.variant = variant;
  }

  boolean isOpen() {
    return open[0] && open[1];
  }

  boolean isOver() {
    return !open[0] && !open[1];
  }

  /**
   * Returns the exception that a receive throws at one side after all messages, or null if more
   * messages may follow.
   */
  @Nullable String endOfStream(int side) {
    boolean isClosed = "ConnectionClosedException".equals(end);
    return from[1 - side].ended || isClosed ? "EndOfStreamException" : end;
  }

  /** Ends one side; the other one, if it is open, observes an exception. */
  void end(int side, String exception) {
    open[side] = false;
    if (end == null) {
      end = exception;
    }
    from[1 - side].held = 0;
  }
}
