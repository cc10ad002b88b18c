// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import java.util.Optional;

/** The cost of a message at a stage of its path. */
public enum Parameter {
  /** {@code L}. */
  LATENCY("L", "ns", "latency of a byte from the sender's memory to the receiver's"),

  /** {@code G}. */
  BYTE_GAP("G", "ns/byte", "each further byte; its inverse is the bandwidth of the path"),

  /** {@code G_alone}; not in the model of the KnowYourMemory thesis. */
  BYTE_ALONE(
      "G_alone",
      "ns/byte",
      "in addition to G, each further byte of a single message: hops overlap in a stream"),

  /** {@code g_snd}. */
  SEND_GAP("g_snd", "ns", "between two sends: polling for acknowledgments"),

  /** {@code o_snd}. */
  SEND_OVERHEAD("o_snd", "ns", "the sender's processor: posting a single message"),

  /** {@code o_nsnd}. */
  SEND_NIC(
      "o_nsnd",
      "ns",
      "the sending card, for each message; in shared memory, transferring its first lines"),

  /** {@code o_nrcv}. */
  RECEIVE_NIC(
      "o_nrcv",
      "ns",
      "the receiving card, for each message; in shared memory, transferring its first lines"),

  /** {@code o_rcv}. */
  RECEIVE_OVERHEAD("o_rcv", "ns", "the receiver's processor: polling a message"),

  /** {@code g_rcv}. */
  RECEIVE_GAP("g_rcv", "ns", "between two receives: freeing, that is reposting the buffer"),

  /** {@code o_bell}; not in the model of the KnowYourMemory thesis. */
  DOORBELL("o_bell", "ns", "the part of o_snd that a batch costs once");

  private final String symbol;
  private final String unit;
  private final String meaning;

  Parameter(String symbol, String unit, String meaning) {
    this.symbol = symbol;
    this.unit = unit;
    this.meaning = meaning;
  }

  /** Returns the symbol used in formulas, such as {@code o_snd}. */
  public String symbol() {
    return symbol;
  }

  public String unit() {
    return unit;
  }

  public String meaning() {
    return meaning;
  }

  public static Optional<Parameter> of(String symbol) {
    for (Parameter parameter : values()) {
      if (parameter.symbol.equals(symbol)) {
        return Optional.of(parameter);
      }
    }
    return Optional.empty();
  }
}
