// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.verbs.CompletionQueue;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A fake channel. The immediate data of a receive is its kind. */
final class FakeChannel extends IdleChannel {

  static final int MESSAGE = FakeProtocol.MESSAGE;
  static final int REPORT = FakeProtocol.REPORT;
  static final int GOODBYE = FakeProtocol.GOODBYE;

  /** The kind for which the protocol throws an exception. */
  static final int FAULT = 4;

  /** The result of posting a receive. Each report posts one. */
  int postResult;

  /** The dropped receives. */
  final List<Integer> dropped = new ArrayList<>();

  /** The number of calls that make freed space available to a starving peer. */
  int served;

  private final FakeProtocol protocol;

  private FakeChannel(Parts parts, FakeProtocol protocol, int capacity) {
    super(parts, protocol, capacity);
    this.protocol = protocol;
  }

  /** Creates a channel on a device. */
  static FakeChannel on(
      ScriptedDevice device,
      int number,
      CompletionQueue sends,
      QueueCallbacks callbacks,
      int capacity) {
    Parts parts =
        new Parts(
            device.queuePair(number), sends, device.sendMemory(SendQueue.LINE), 16, -1, callbacks);
    return new FakeChannel(parts, new FakeProtocol(FakeProtocol.UNLIMITED), capacity);
  }

  /** Creates a channel of which only the identity matters. */
  static FakeChannel any() {
    return any(1, new RecordingCallbacks());
  }

  /** Creates a channel for {@link #bring}. */
  static FakeChannel any(int capacity, QueueCallbacks callbacks) {
    ScriptedDevice device = new ScriptedDevice();
    return on(device, 77, device.completionQueue(), callbacks, capacity);
  }

  /** Delivers a message, as the only one of a poll. */
  void bring(int message) {
    deliver(message, message);
    afterPoll();
  }

  FakeProtocol protocol() {
    return protocol;
  }

  @Override
  protected @Nullable String received(CompletionQueue completions, int index) {
    int receive = (int) completions.workRequestId(index);
    switch (completions.immediate(index)) {
      case MESSAGE -> deliver(receive, completions.length(index));
      case REPORT -> posted(postResult);
      case FAULT -> throw new IllegalStateException("thrown by the test");
      case GOODBYE -> goodbyeReceived();
      default -> {
        return "unknown kind";
      }
    }
    return null;
  }

  @Override
  protected void dropped(int receive) {
    dropped.add(receive);
  }

  @Override
  protected void releaseHeldBackSpace() {
    served++;
  }

  @Override
  public long offset(int message) {
    return message;
  }
}
