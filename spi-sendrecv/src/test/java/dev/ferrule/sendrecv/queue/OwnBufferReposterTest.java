// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.sendrecv.wire.Immediate;
import dev.ferrule.verbs.CompletionQueue;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests when the buffers of a connection are reposted and granted to its peer. */
class OwnBufferReposterTest {

  private static final int NUMBER = 7;
  private static final int RECEIVES = 16; // with this number, batches of 4 are posted

  private final ScriptedDevice device = new ScriptedDevice();
  private final CompletionQueue completions = device.completionQueue();
  private final CompletionQueue sendCompletions = device.completionQueue();
  private final ReceiveQueue queue =
      new ReceiveQueue(completions, buffer -> {}, CompletionQueue.BATCH);
  private final RecordingCallbacks link = new RecordingCallbacks();

  private SendRecvChannel channel(boolean credits) {
    return channel(credits, SendQueue.MAX_CHAIN);
  }

  private SendRecvChannel channel(boolean credits, int postedTogether) {
    int count = RECEIVES + SendRecvChannel.CONTROL_RECEIVES;
    ReceiveBuffers buffers = Fakes.buffers(device, count, postedTogether);
    SendRecvChannel channel =
        new SendRecvChannel(
            new Channel.Parts(
                device.queuePair(NUMBER), sendCompletions, device.sendMemory(4096), 16, -1, link),
            new SendRecvChannel.Terms(!credits, credits, RECEIVES, RECEIVES),
            buffers,
            null,
            buffers.view());
    buffers.postAll(device.queuePair(NUMBER));
    queue.add(channel);
    return channel;
  }

  /** Receives messages; returns their buffers. */
  private List<Integer> receive(SendRecvChannel channel, int count) {
    for (int i = 0; i < count; i++) {
      device.received(
          completions,
          NUMBER,
          device.takeReceive(),
          1,
          Immediate.of(Immediate.MESSAGE, RECEIVES, channel.reports()));
    }
    queue.drain();
    return Fakes.take(channel);
  }

  @Test
  void shouldPostSeveralFreedBuffersTogether() {
    SendRecvChannel channel = channel(true);
    List<Integer> buffers = receive(channel, 4);
    int posts = device.receivePosts.get();

    buffers.forEach(channel::free);

    assertThat(device.receivePosts.get()).isEqualTo(posts + 1);
    assertThat(device.receives()).containsAll(buffers);
    assertThat(device.sends()).isEmpty();
  }

  @Test
  void shouldPostEachFreedBufferByItselfIfSoChosen() {
    SendRecvChannel channel = channel(true, 1);
    List<Integer> buffers = receive(channel, 4);
    int posts = device.receivePosts.get();

    buffers.forEach(channel::free);

    assertThat(device.receivePosts.get()).isEqualTo(posts + 4);
    assertThat(device.receives()).containsAll(buffers);
  }

  /** The peer may claim all of its credit before it sends, and the program may never poll again. */
  @Test
  void shouldGiveThePeerAllOfItsCreditAfterATick() {
    SendRecvChannel channel = channel(true);
    int buffer = receive(channel, 1).get(0);
    channel.free(buffer);
    channel.releaseSpaceToBlockedPeer();
    assertThat(device.receives()).doesNotContain(buffer);

    channel.tick();

    assertThat(device.receives()).contains(buffer);
    assertThat(device.sends()).hasSize(1);
    assertThat(Immediate.newlyGranted(device.lastSend().immediate(), RECEIVES)).isEqualTo(1);
  }

  @Test
  void shouldGrantCreditsThatAreNotDueAfterATick() {
    SendRecvChannel channel = channel(true);
    receive(channel, 4).forEach(channel::free);

    channel.tick();
    channel.tick();

    assertThat(device.sends()).hasSize(1);
    assertThat(Immediate.newlyGranted(device.lastSend().immediate(), RECEIVES)).isEqualTo(4);
  }

  @Test
  void shouldIgnoreATickIfNothingIsOwed() {
    SendRecvChannel channel = channel(true);
    receive(channel, 3);

    channel.tick();

    assertThat(device.sends()).isEmpty();
  }

  @Test
  void shouldBeExhaustedWithoutCreditsWhenAllBuffersAreHeld() {
    SendRecvChannel channel = channel(false);
    int all = RECEIVES + SendRecvChannel.CONTROL_RECEIVES;

    assertThat(receive(channel, all)).hasSize(all);

    assertThat(channel.isExhausted(RECEIVES)).isFalse();
    assertThat(channel.isExhausted(all)).isTrue();
    assertThat(channel(true).isExhausted(RECEIVES)).isTrue();
  }

  @Test
  void shouldRepostAtOnceWithoutCreditsIfThePeerHasNoReceive() {
    SendRecvChannel channel = channel(false);
    List<Integer> buffers = receive(channel, RECEIVES + SendRecvChannel.CONTROL_RECEIVES);

    channel.free(buffers.get(3));

    assertThat(device.receives()).containsExactly(buffers.get(3));
    assertThat(link.told).isEmpty();
  }
}
