// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

/** A stage where messages may queue. The slowest stage sets the pace of all. */
public enum Stage {
  /** {@code o_snd + g_snd}. */
  SENDER_CPU("sender's processor"),

  /** {@code o_nsnd + (k-1)G}, dominated by the time per message. */
  SENDER_NIC("sending card"),

  /** {@code o_nrcv + (k-1)G}, dominated by the time per message. */
  RECEIVER_NIC("receiving card"),

  /** One of the cards; the measurements do not determine which. */
  EITHER_NIC("a card, sending or receiving"),

  /** A card's time, dominated by the time per byte. */
  LINK("bytes in flight (G)"),

  /** {@code o_rcv + g_rcv}. */
  RECEIVER_CPU("receiver's processor"),

  /** Waiting for the acknowledgment of a message in flight. */
  ACKNOWLEDGMENT("waiting for acknowledgments"),

  /** Fewer processors than busy threads. */
  PROCESSORS("too few processors for all threads");

  private final String words;

  Stage(String words) {
    this.words = words;
  }

  /**
   * Returns the stage's name. Shared memory has no {@code cards}: the transfer of cache lines
   * between processors takes their place.
   */
  public String words(boolean cards) {
    boolean card = this == SENDER_NIC || this == RECEIVER_NIC || this == EITHER_NIC;
    return card && !cards ? "cache line transfer" : words;
  }

  @Override
  public String toString() {
    return words;
  }
}
