// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import org.jspecify.annotations.Nullable;

/** Base class of transports, with the values received. */
abstract class AbstractTransport implements Transport {

  private final @Nullable SenderSequences sequences;
  private long lastValue;

  AbstractTransport(Mode mode) {
    sequences = mode == Mode.SEVERAL_SENDERS ? new SenderSequences() : null;
  }

  /** Handles the value of a received message. */
  final void received(long value) {
    lastValue = value;
    if (sequences != null) {
      sequences.accept(value);
    }
  }

  @Override
  public final long lastValue() {
    return lastValue;
  }

  @Override
  public final SenderSequences sequences() {
    return sequences != null ? sequences : Transport.super.sequences();
  }
}
