// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

/**
 * Checks the values of messages from several threads. Each thread numbers its messages, which must
 * arrive in that order. A wrong value is reported by {@link #check} and not by an exception from
 * {@link #accept}: some libraries catch the exceptions of a handler.
 */
public final class SenderSequences {

  /** The maximum number of sending threads. */
  public static final int MOST_SENDERS = 8; // a power of two

  private static final int SENDER_SHIFT = 48;

  private final long[] expected = new long[MOST_SENDERS];
  private boolean isWrong;
  private long wrongValue;
  private long expectedInstead;

  public SenderSequences() {
    restart();
  }

  /** Returns the value of a sender's message; both are numbered from 0. */
  public static long value(int sender, long number) {
    return (long) sender << SENDER_SHIFT | number;
  }

  /** Expects the first message of each thread again. */
  public void restart() {
    for (int sender = 0; sender < MOST_SENDERS; sender++) {
      expected[sender] = value(sender, 0);
    }
    isWrong = false;
  }

  void accept(long value) {
    int sender = (int) (value >>> SENDER_SHIFT) & (MOST_SENDERS - 1);
    long wanted = expected[sender];
    if (value != wanted && !isWrong) {
      isWrong = true;
      wrongValue = value;
      expectedInstead = wanted;
    }
    expected[sender] = wanted + 1;
  }

  /** Throws an {@link IllegalStateException} if any message so far was wrong. */
  public void check() {
    if (isWrong) {
      throw new IllegalStateException(
          "a message was lost, duplicated or reordered: %s arrived instead of %s"
              .formatted(describe(wrongValue), describe(expectedInstead)));
    }
  }

  private static String describe(long value) {
    long number = value & ((1L << SENDER_SHIFT) - 1);
    return "message " + number + " of thread " + (value >>> SENDER_SHIFT);
  }
}
