// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

/** Where messages may have to queue: the slowest stage sets the pace of all. */
public enum Stage {
  /** {@code o_snd + g_snd}. */
  SENDER_CPU("sender's processor"),

  /** {@code o_nsnd + (k-1)G}, most of it for the message. */
  SENDER_NIC("sending card"),

  /** {@code o_nrcv + (k-1)G}, most of it for the message. */
  RECEIVER_NIC("receiving card"),

  /** One of the cards, and nobody can say which. */
  EITHER_NIC("a card, sending or receiving"),

  /** A card's time, most of it for the bytes. */
  LINK("bytes on the way (G)"),

  /** {@code o_rcv + g_rcv}. */
  RECEIVER_CPU("receiver's processor"),

  /** Until one of the unacknowledged messages is acknowledged. */
  ACKNOWLEDGEMENT("waiting for acknowledgements"),

  /** Fewer than there are threads that have something to do. */
  PROCESSORS("too few processors for all threads");

  private final String words;

  Stage(String words) {
    this.words = words;
  }

  /**
   * Returns the stage in words, also where there are no cards: in shared memory those are the lines
   * that processors move.
   *
   * @param cards whether there are
   * @return its words
   */
  public String words(boolean cards) {
    boolean card = this == SENDER_NIC || this == RECEIVER_NIC || this == EITHER_NIC;
    return card && !cards ? "cache lines on their way" : words;
  }

  /** Returns the stage in words. */
  @Override
  public String toString() {
    return words;
  }
}
