// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.sendrecv.wire.Immediate;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.VerbsException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Buffers of several connections, and the thread that reposts them. */
class SharedReceivesPostingTest {

  private static final int COUNT = 256;
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final ScriptedDevice device = new ScriptedDevice();
  private final CompletionQueue completions = device.completionQueue();
  private final CompletionQueue sendCompletions = device.completionQueue();
  private final SharedReceives shared =
      new SharedReceives(device.sharedReceiveQueue(), Fakes.buffers(device, COUNT), true);
  private final ReceiveQueue queue =
      new ReceiveQueue(completions, shared::repostUnowned, CompletionQueue.BATCH);
  private int clients;

  @AfterEach
  void endThread() {
    shared.close();
  }

  /** A connection that uses a share. */
  private final class Client {

    private final int number = ++clients;
    private final RecordingCallbacks link = new RecordingCallbacks();
    private final SharedReceives.Share share = Objects.requireNonNull(shared.admit());
    private final SendRecvChannel channel =
        new SendRecvChannel(
            new Channel.Parts(
                device.queuePair(number), sendCompletions, device.sendMemory(64), 16, -1, link),
            new SendRecvChannel.Terms(false, true, share.first(), 1000),
            shared.buffers(),
            share,
            shared.buffers().view());

    private Client() {
      queue.add(channel);
    }

    /** Receives messages; returns their buffers. */
    private List<Integer> receive(int count) {
      for (int i = 0; i < count; i++) {
        device.received(
            completions, number, device.takeReceive(), 1, Immediate.of(Immediate.MESSAGE, 1000, 0));
      }
      queue.drain();
      return Fakes.take(channel);
    }
  }

  private static void await(BooleanSupplier condition) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("a long time").isLessThan(deadline);
      Thread.yield();
    }
  }

  /** Delays the thread while it posts one buffer, so that further buffers accumulate. */
  private CountDownLatch holdUp(Client client) throws InterruptedException {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    device.onReceive =
        (number, buffer) -> {
          inside.countDown();
          try {
            goOn.await();
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        };
    client.receive(1).forEach(client.channel::free);
    inside.await();
    return goOn;
  }

  @Test
  void shouldPostTheBuffersOfAllConnectionsAndStraysByOneCall() throws InterruptedException {
    Client first = new Client();
    Client second = new Client();
    List<Integer> ofFirst = first.receive(3);
    List<Integer> ofSecond = second.receive(4);
    int stray = device.takeReceive();
    CountDownLatch goOn = holdUp(first);
    int posts = device.receivePosts.get();
    List<Integer> posted = new ArrayList<>();

    ofFirst.forEach(first.channel::free);
    ofSecond.forEach(second.channel::free);
    shared.repostUnowned(stray);
    device.onReceive = (number, buffer) -> posted.add(buffer);
    goOn.countDown();

    await(() -> device.receivePosts.get() > posts && posted.size() == 8);
    assertThat(device.receivePosts.get()).isEqualTo(posts + 1);
    assertThat(posted).contains(stray).containsAll(ofFirst).containsAll(ofSecond);
    assertThat(first.link.told).isEmpty();
  }

  @Test
  void shouldReportAFailedPostToAllConnections() {
    Client first = new Client();
    Client second = new Client();
    device.receiveErrno = Errno.ENODEV;

    shared.repostUnowned(device.takeReceive());

    await(() -> !second.link.told.isEmpty());
    assertThat(first.link.told).containsExactly("ibv_post_srq_recv 19");
    assertThat(second.link.told).containsExactly("ibv_post_srq_recv 19");
  }

  @Test
  void shouldFailAllConnectionsInsteadOfStarvingThem() {
    Client client = new Client();
    device.onReceive =
        (number, buffer) -> {
          throw new IllegalStateException("a fault");
        };

    shared.repostUnowned(device.takeReceive());

    await(() -> !client.link.told.isEmpty());
    assertThat(client.link.told.get(0)).contains("reposts the shared receives", "a fault");
    assertThatThrownBy(shared::admit)
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("a fault");
  }

  /** Adds each buffer when the thread may be about to fall asleep. */
  @Test
  void shouldMissNoWakeUp() {
    Client client = new Client();
    for (int i = 0; i < 20_000; i++) {
      client.receive(1).forEach(client.channel::free);
      await(() -> device.receives().size() == COUNT);
      shared.repostUnowned(device.takeReceive());
      await(() -> device.receives().size() == COUNT);
    }
  }
}
