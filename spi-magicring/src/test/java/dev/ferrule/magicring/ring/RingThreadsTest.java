// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.rdma.queue.MessageQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Runs both ends of a ring in as many threads as may use them. No thread checks twice, so the
 * sender would wait forever if an acknowledgment were missed.
 */
class RingThreadsTest {

  private static final int PAGE = 4096;
  private static final int HANGS = 120; // seconds; far more than a run takes

  private record Ack(long messages, long bytes) {}

  private record Held(int slot, int length, long number) {}

  /** A connection in one direction, without a device. */
  private static final class Direction {
    final int size;
    final long count;
    final int longest;
    final RingSpace space;
    final RingMessages messages;
    final RingContent content;
    final ArrayBlockingQueue<Ack> acks;
    final Object sendQueue = new Object();
    volatile boolean failed;

    Direction(int pages, Mapping mapping, Acknowledge how, int window, int longest, long count) {
      this.size = pages * PAGE;
      this.count = count;
      this.longest = longest;
      this.space = new RingSpace(size, mapping, window);
      this.messages = new RingMessages(size, mapping, window, longest, how);
      this.content = new RingContent(size, mapping);
      this.acks = new ArrayBlockingQueue<>(window); // as many as the receives for acknowledgments
    }

    void acknowledgeIfDue() {
      if (messages.isAckDue()) {
        acknowledgeAll();
      }
    }

    void acknowledgeAll() {
      synchronized (sendQueue) {
        if (messages.acknowledge()) {
          acks.add(new Ack(messages.acknowledgedMessages(), messages.acknowledgedBytes()));
        }
      }
    }

    /** The sender and the receiver's polling thread; the network is a method call. */
    void send(Random random) {
      for (long number = 0; number < count; number++) {
        int length = random.nextInt(4) == 0 ? random.nextInt(longest + 1) : random.nextInt(200);
        while (!space.tryReserve(length)) {
          pause();
        }
        content.write(space.place(length, length), length, number);
        if (messages.arrived(length) == RingMessages.REFUSED) {
          throw new AssertionError(messages.objection());
        }
        acknowledgeIfDue();
      }
    }

    /** The receiver, which holds some messages for a while. */
    void receive(Random random) {
      List<Held> held = new ArrayList<>();
      long received = 0;
      while (received < count || !held.isEmpty()) {
        long message = messages.take();
        boolean hasArrived = message != MessageQueue.NONE;
        if (hasArrived) {
          held.add(new Held(MessageQueue.number(message), MessageQueue.length(message), received));
          received++;
        }
        if (!held.isEmpty() && (!hasArrived || random.nextInt(4) > 0)) {
          Held one = held.remove(random.nextInt(held.size()));
          content.check(messages.offset(one.slot), one.length, one.number);
          messages.free(one.slot);
          acknowledgeIfDue();
        } else if (!hasArrived) {
          messages.publishFrees();
          acknowledgeIfDue();
          pause();
        }
      }
      acknowledgeAll(); // the rest, which need not be due
    }

    /** The sender's polling thread. */
    void takeAcks() {
      long acknowledged = 0;
      while (acknowledged < count) {
        Ack ack = acks.poll();
        if (ack == null) {
          pause();
        } else {
          String objection = space.takeAck(ack.messages, ack.bytes);
          if (objection != null) {
            throw new AssertionError(objection);
          }
          acknowledged = ack.messages;
        }
      }
    }

    void pause() {
      if (failed) {
        throw new IllegalStateException("another thread has failed");
      }
      Thread.yield();
    }

    /** Spins, so that threads meet at the same nanosecond although they may share one processor. */
    void spin(int spins) {
      if (spins % 256 == 0) {
        pause();
      }
      Thread.onSpinWait();
    }

    Callable<Void> guard(Runnable part) {
      return () -> {
        boolean done = false;
        try {
          part.run();
          done = true;
        } finally {
          failed |= !done;
        }
        return null;
      };
    }
  }

  private static void run(Direction direction, List<Runnable> parts)
      throws InterruptedException, ExecutionException, TimeoutException {
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<Future<Void>> ends = new ArrayList<>();
      for (Runnable part : parts) {
        ends.add(threads.submit(direction.guard(part)));
      }
      try {
        for (Future<Void> end : ends) {
          end.get(HANGS, TimeUnit.SECONDS);
        }
      } finally {
        direction.failed = true; // ends the other threads, which would otherwise wait forever
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "MAGIC, BATCHED, 1, 1, 4096",
    "MAGIC, BATCHED, 1, 64, 512",
    "MAGIC, BATCHED, 3, 7, 12288",
    "MAGIC, BATCHED, 3, 7, 3000",
    "MAGIC, EACH, 1, 64, 512",
    "MAGIC, EACH, 3, 7, 3000",
    "PLAIN, BATCHED, 1, 1, 2048",
    "PLAIN, BATCHED, 1, 64, 256",
    "PLAIN, BATCHED, 3, 7, 6144",
    "PLAIN, BATCHED, 3, 7, 1500",
    "PLAIN, EACH, 1, 64, 256"
  })
  void shouldLoseNeitherAMessageNorAnAcknowledgment(
      Mapping mapping, Acknowledge how, int pages, int window, int longest)
      throws InterruptedException, ExecutionException, TimeoutException {
    Direction direction =
        new Direction(pages, mapping, how, window, longest, window == 1 ? 50_000 : 200_000);
    run(
        direction,
        List.of(
            () -> direction.send(new Random(1)),
            () -> direction.receive(new Random(2)),
            direction::takeAcks));

    assertThat(direction.messages.freedMessages()).isEqualTo(direction.count);
    assertThat(direction.messages.freedBytes()).isEqualTo(direction.space.ringBytes());
    assertThat(direction.messages.heldMessages()).isZero();
    assertThat(direction.space.isAllBack()).isTrue();
  }

  /**
   * The receiver holds as many messages as the window allows. It frees one, and then another one
   * while the sender's last permitted message arrives. It frees no more until the next message
   * arrives, which the sender cannot send without an acknowledgment.
   */
  @Test
  void shouldAcknowledgeIfTheLastMessageArrivesWhileAnotherIsFreed()
      throws InterruptedException, ExecutionException, TimeoutException {
    int window = 5; // more than four: no acknowledgment is due for a single freed message
    Direction direction = new Direction(1, Mapping.MAGIC, Acknowledge.BATCHED, window, 8, 300_001);
    RingMessages messages = direction.messages;
    Runnable acknowledgeIfDue =
        () -> {
          if (messages.isAckDue()) {
            synchronized (direction.sendQueue) {
              messages.acknowledge(); // the sender polls the result
            }
          }
        };
    Runnable sender =
        () -> {
          int spins = 0;
          for (long number = 0; number < direction.count; number++) {
            while (!direction.space.tryReserve(8)) {
              long freed = messages.acknowledgedMessages();
              direction.space.takeNumbers(freed, 8 * freed); // may repeat the last ones
              direction.spin(spins++);
            }
            direction.space.place(8, 8);
            messages.arrived(8);
            acknowledgeIfDue.run();
          }
        };
    Runnable receiver =
        () -> {
          Random random = new Random(3);
          int spins = 0;
          for (long freed = 0; freed + window < direction.count; freed += 2) {
            while (messages.messagesArrived() < freed + window) {
              messages.publishFrees();
              acknowledgeIfDue.run();
              direction.spin(spins++);
            }
            messages.take();
            messages.free((int) freed & (messages.slots() - 1));
            acknowledgeIfDue.run();
            for (int i = random.nextInt(30); i > 0; i--) {
              Thread.onSpinWait();
            }
            messages.take();
            messages.free((int) (freed + 1) & (messages.slots() - 1));
            acknowledgeIfDue.run();
          }
        };
    run(direction, List.of(sender, receiver));

    assertThat(messages.heldMessages()).isEqualTo(window);
  }
}
