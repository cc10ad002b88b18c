// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.MessageQueue;
import dev.ferrule.rdma.queue.Outbox;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.verbs.CompletionQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Connections between two sides of a simulated wire, with as many threads as programs may use. On
 * each side, one thread sends, another receives, and both poll.
 */
class SendRecvThreadsTest {

  private static final int MESSAGES = 30_000;
  private static final int LENGTHS = 1000;
  private static final int LOOKS_PER_TICK = 64;
  private static final long PATIENCE_SECONDS = 120;

  private final ScriptedDevice device = new ScriptedDevice();
  private final Map<Integer, Side> sides = new ConcurrentHashMap<>();
  private final Queue<Integer> sharedReceives = new ConcurrentLinkedQueue<>();
  private final AtomicInteger notReady = new AtomicInteger();
  private volatile boolean failed;

  /** One end of a connection. */
  private final class Side {

    private final int number;
    private final CompletionQueue sendCompletions = device.completionQueue();
    private final RecordingCallbacks link = new RecordingCallbacks();
    private final Queue<Integer> receives;
    private final CompletionQueue completions;
    private final ReceiveQueue queue;
    private final Channel channel;
    private Side peer = this;
    private long lastSend; // by the posting thread

    /** Creates a side with its own receives. */
    Side(int number, boolean credits, int credit, int peerCredit) {
      this.number = number;
      sides.put(number, this);
      receives = new ConcurrentLinkedQueue<>();
      completions = device.completionQueue();
      queue = new ReceiveQueue(completions, buffer -> {}, CompletionQueue.BATCH);
      ReceiveBuffers buffers = Fakes.buffers(device, credit + SendRecvChannel.CONTROL_RECEIVES);
      channel = channel(buffers, null, credits, credit, peerCredit);
      buffers.postAll(device.queuePair(number));
      queue.add(channel);
    }

    /** Creates a side that shares receives. */
    Side(
        int number,
        SharedReceives shared,
        SharedReceives.Share share,
        CompletionQueue completions,
        ReceiveQueue queue,
        int peerCredit) {
      this.number = number;
      sides.put(number, this);
      this.receives = sharedReceives;
      this.completions = completions;
      this.queue = queue;
      channel = channel(shared.buffers(), share, true, share.first(), peerCredit);
      queue.add(channel);
    }

    private Channel channel(
        ReceiveBuffers buffers,
        SharedReceives.Share share,
        boolean credits,
        int credit,
        int peerCredit) {
      return new SendRecvChannel(
          new Channel.Parts(
              device.queuePair(number), sendCompletions, device.sendMemory(4096), 32, -1, link),
          new SendRecvChannel.Terms(false, credits, credit, peerCredit),
          buffers,
          share,
          buffers.view());
    }

    void onSend(ScriptedDevice.Send send) {
      lastSend++;
      if (send.id() != lastSend) {
        failed = true;
      }
      if (send.operation() == ScriptedDevice.SEND_WITH_IMMEDIATE) {
        Integer buffer = peer.receives.poll();
        if (buffer == null) {
          notReady.incrementAndGet();
          failed = true;
          return;
        }
        device.received(peer.completions, peer.number, buffer, send.length(), send.immediate());
      }
      if (send.isSignaled()) {
        device.sent(sendCompletions, send.id());
      }
    }

    /** Performs the periodic work of the event loop. */
    private void tick() {
      channel.sends().probe();
      channel.reportIfDue();
    }

    /** Sends all messages, with lengths that encode their numbers. */
    void sendAll() {
      Outbox sends = channel.sends().newOutbox();
      int looks = 0;
      int sent = 0;
      while (sent < MESSAGES && !failed) {
        int length = sent % LENGTHS;
        if (sends.reserve(length, 0) <= SendQueue.FULL) {
          queue.poll();
          looks++;
          if (looks % LOOKS_PER_TICK == 0) {
            tick();
          }
          Thread.yield();
        } else {
          sends.stageGather(SendQueue.NO_LINES, 0, 0L, length, 0);
          sends.publish();
          sent++;
          if (length == 0) {
            sends.isComplete(sends.lastId());
          }
        }
      }
    }

    /** Receives all messages and checks their order. */
    void receiveAll() {
      int received = 0;
      int looks = 0;
      MessageQueue messages = channel.messages();
      while (received < MESSAGES && !failed) {
        if (!messages.hasNext() && !queue.poll()) {
          channel.releaseSpaceToBlockedPeer();
          looks++;
          if (looks % LOOKS_PER_TICK == 0) {
            tick();
          }
          Thread.yield();
        }
        while (messages.hasNext()) {
          long message = messages.take();
          assertThat(MessageQueue.length(message)).isEqualTo(received % LENGTHS);
          channel.free(MessageQueue.number(message));
          received++;
        }
      }
      assertThat(received).isEqualTo(MESSAGES);
    }
  }

  private void connect(Side one, Side other) {
    one.peer = other;
    other.peer = one;
  }

  private void onReceive(int queuePair, int buffer) {
    (queuePair == 0 ? sharedReceives : Objects.requireNonNull(sides.get(queuePair)).receives)
        .add(buffer);
  }

  private void run(List<Runnable> threads) throws Exception {
    device.onSend = send -> Objects.requireNonNull(sides.get(send.queuePair())).onSend(send);
    ExecutorService executor = Executors.newFixedThreadPool(threads.size());
    try {
      List<Future<?>> running = new ArrayList<>();
      threads.forEach(thread ->
          running.add(
              executor.submit(() -> {
                try {
                  thread.run();
                } catch (RuntimeException | Error e) {
                  failed = true;
                  throw e;
                }
              })));
      for (Future<?> thread : running) {
        thread.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      }
    } finally {
      failed = true; // ends the remaining threads
      executor.shutdown();
    }
    sides.values().forEach(side -> assertThat(side.link.told).isEmpty());
    assertThat(notReady).as("messages without a receive").hasValue(0);
    assertThat(device.overlaps).as("two threads polled at once").hasValue(0);
  }

  @Test
  void everyMessageHasAReceiveAndArrivesWithOwnBuffers() throws Exception {
    device.onReceive = this::onReceive;
    Side one = new Side(1, true, 8, 32);
    Side other = new Side(2, true, 32, 8);
    connect(one, other);
    run(List.of(one::sendAll, other::sendAll, one::receiveAll, other::receiveAll));
  }

  @Test
  void aSingleCreditIsEnough() throws Exception {
    device.onReceive = this::onReceive;
    Side one = new Side(1, true, 1, 1);
    Side other = new Side(2, true, 1, 1);
    connect(one, other);
    run(List.of(one::sendAll, other::sendAll, one::receiveAll, other::receiveAll));
  }

  @Test
  void everyMessageHasAReceiveAndArrivesWithSharedBuffers() throws Exception {
    device.onReceive = this::onReceive;
    CompletionQueue completions = device.completionQueue();
    try (SharedReceives shared =
        new SharedReceives(device.sharedReceiveQueue(), Fakes.buffers(device, 128), true)) {
      ReceiveQueue queue =
          new ReceiveQueue(completions, shared::repostUnowned, CompletionQueue.BATCH);
      List<Runnable> threads = new ArrayList<>();
      for (int number = 1; number <= 2; number++) {
        SharedReceives.Share share = Objects.requireNonNull(shared.admit());
        Side server = new Side(number, shared, share, completions, queue, 16);
        Side client = new Side(100 + number, true, 16, share.first());
        connect(server, client);
        threads.addAll(
            List.of(server::sendAll, client::sendAll, server::receiveAll, client::receiveAll));
      }
      run(threads);
    }
  }
}
