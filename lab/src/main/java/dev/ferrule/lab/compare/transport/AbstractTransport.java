// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Base class of transports, with the last value received and the first sender. */
abstract class AbstractTransport implements Transport {

  /** Receives a copy of each message that arrives. */
  final @Nullable Consumer<byte[]> witness;

  private final @Nullable SenderSequences sequences;
  private final Supplier<MessageSender> senders;
  private final MessageSender sender;
  private long lastValue;

  AbstractTransport(
      Mode mode, @Nullable Consumer<byte[]> witness, Supplier<MessageSender> senders) {
    this.witness = witness;
    this.senders = senders;
    sender = senders.get();
    sequences = mode == Mode.SEVERAL_SENDERS ? new SenderSequences() : null;
  }

  final void received(long value) {
    lastValue = value;
    if (sequences != null) {
      sequences.accept(value);
    }
  }

  @Override
  public final boolean trySend(long value, int length) {
    return sender.trySend(value, length);
  }

  @Override
  public final int trySendBatch(long first, int count, int length) {
    return sender.trySendBatch(first, count, length);
  }

  @Override
  public MessageSender newSender() {
    return senders.get();
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
