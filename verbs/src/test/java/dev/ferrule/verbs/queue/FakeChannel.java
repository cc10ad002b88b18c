// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.fake.RecordingLink;
import dev.ferrule.verbs.fake.ScriptedDevice;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A connection to which every receive is a message, but for those whose immediate data says
 * something else.
 */
final class FakeChannel extends IdleChannel {

  static final int MESSAGE = FakeProtocol.MESSAGE;
  static final int REPORT = FakeProtocol.REPORT;
  static final int GOODBYE = FakeProtocol.GOODBYE;

  /** What the protocol fails at. */
  static final int FAULT = 4;

  /** What posting a receive returns, which each report has done. */
  int postResult;

  /** The receives that nobody wants. */
  final List<Integer> dropped = new ArrayList<>();

  private final FakeProtocol protocol;

  private FakeChannel(Parts parts, FakeProtocol protocol, int capacity) {
    super(parts, protocol, capacity);
    this.protocol = protocol;
  }

  /** Makes a connection on a device. */
  static FakeChannel on(
      ScriptedDevice device, int number, CompletionQueue sends, Link link, int capacity) {
    Parts parts =
        new Parts(device.queuePair(number), sends, device.sendMemory(SendQueue.LINE), 16, -1, link);
    return new FakeChannel(parts, new FakeProtocol(FakeProtocol.UNLIMITED), capacity);
  }

  /** Makes a connection of which only the identity matters. */
  static FakeChannel any() {
    return any(1, new RecordingLink());
  }

  /** Makes a connection to which messages are brought without a queue. */
  static FakeChannel any(int capacity, Link link) {
    ScriptedDevice device = new ScriptedDevice();
    return on(device, 77, device.completionQueue(), link, capacity);
  }

  /** A message comes, and is the only one that this look finds. */
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
      case FAULT -> throw new IllegalStateException("as the test wants it");
      case GOODBYE -> goodbyeReceived();
      default -> {
        return "it makes no sense";
      }
    }
    return null;
  }

  @Override
  protected void dropped(int receive) {
    dropped.add(receive);
  }

  @Override
  public long offset(int message) {
    return message;
  }
}
