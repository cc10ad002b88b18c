// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

import java.util.Optional;

/** What a message costs somewhere on its way. */
public enum Parameter {
  /** {@code L}. */
  LATENCY("L", "ns", "the way of a byte from the sender's memory to the receiver's"),

  /** {@code G}. */
  BYTE_GAP("G", "ns/byte", "each further byte; its inverse is the bandwidth of the way"),

  /** {@code G_alone}; not in the seed. */
  BYTE_ALONE(
      "G_alone",
      "ns/byte",
      "on top of G, each further byte of a message by itself: hops that overlap in a stream"),

  /** {@code g_snd}. */
  SEND_GAP("g_snd", "ns", "between two sends: polling for what was acknowledged"),

  /** {@code o_snd}. */
  SEND_OVERHEAD("o_snd", "ns", "the sender's processor: posting a message by itself"),

  /** {@code o_nsnd}. */
  SEND_NIC(
      "o_nsnd",
      "ns",
      "the sending card, for each message; in shared memory moving its first lines"),

  /** {@code o_nrcv}. */
  RECEIVE_NIC(
      "o_nrcv",
      "ns",
      "the receiving card, for each message; in shared memory moving its first lines"),

  /** {@code o_rcv}. */
  RECEIVE_OVERHEAD("o_rcv", "ns", "the receiver's processor: polling a message"),

  /** {@code g_rcv}. */
  RECEIVE_GAP("g_rcv", "ns", "between two receives: freeing, that is posting again"),

  /** {@code o_bell}; not in the seed. */
  DOORBELL("o_bell", "ns", "the part of o_snd that a batch pays once");

  private final String symbol;
  private final String unit;
  private final String meaning;

  Parameter(String symbol, String unit, String meaning) {
    this.symbol = symbol;
    this.unit = unit;
    this.meaning = meaning;
  }

  /**
   * Returns the name as formulas have it.
   *
   * @return such as {@code o_snd}
   */
  public String symbol() {
    return symbol;
  }

  /**
   * Returns what its value counts.
   *
   * @return {@code ns} or {@code ns/byte}
   */
  public String unit() {
    return unit;
  }

  /**
   * Returns what it is.
   *
   * @return some words
   */
  public String meaning() {
    return meaning;
  }

  /**
   * Finds a parameter.
   *
   * @param symbol the name as formulas have it
   * @return the parameter; empty if there is none of that name
   */
  public static Optional<Parameter> of(String symbol) {
    for (Parameter parameter : values()) {
      if (parameter.symbol.equals(symbol)) {
        return Optional.of(parameter);
      }
    }
    return Optional.empty();
  }
}
