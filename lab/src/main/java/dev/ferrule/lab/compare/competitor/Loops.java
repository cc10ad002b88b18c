// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.competitor;

import dev.ferrule.lab.compare.transport.MessageSender;
import dev.ferrule.lab.compare.transport.SenderSequences;
import dev.ferrule.lab.compare.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * The loops that measure every {@link Transport}. A message that is lost, duplicated or reordered
 * causes an {@link IllegalStateException}. The loops do not check whether the peer is alive: the
 * parent process ends both when one fails.
 */
final class Loops {

  /** Time limit of the sink for the next message. */
  static final long LOST_NANOS = TimeUnit.SECONDS.toNanos(20);

  private static final int POLL_LIMIT = 256;
  private static final int LOOKS_PER_CLOCK = 1 << 20; // about ten milliseconds
  private static final int SPINS = 200;
  private static final long START = 0;

  private Loops() {}

  /**
   * Performs round trips. The first starts the clock, each further one is timed in nanoseconds; the
   * peer must {@link #echo} one more than are timed.
   */
  static void ping(Transport transport, long first, long[] periods, int count, int length) {
    long before = 0;
    for (int i = -1; i < count; i++) {
      long value = first + i + 1;
      send(transport, value, length);
      // The clock is read while the message is in flight: its cost does not count.
      long now = System.nanoTime();
      if (i >= 0) {
        periods[i] = now - before;
      }
      before = now;
      while (transport.poll(1) == 0) {
        // in flight
      }
      checkEcho(transport, value);
    }
  }

  private static void checkEcho(Transport transport, long value) {
    if (transport.lastValue() != value) {
      throw new IllegalStateException(
          "message " + value + " was echoed as " + transport.lastValue());
    }
  }

  static void echo(Transport transport, long count, int length) {
    for (long left = count; left > 0; ) {
      int taken = transport.poll(1);
      if (taken > 0) {
        left -= taken;
        send(transport, transport.lastValue(), length);
      }
    }
  }

  /**
   * Sends single messages, whose values begin with {@code first}, as fast as possible to a peer
   * that executes {@link #sink}. Returns the time from the peer being ready until it has received
   * the last one, in nanoseconds.
   */
  static long send(Transport transport, long first, long count, int length) {
    awaitMessage(transport);
    long start = System.nanoTime();
    for (long value = first; value < first + count; value++) {
      send(transport, value, length);
    }
    return awaitEnd(transport, start, first + count - 1);
  }

  /** Sends messages as {@link #send} does, but in batches. */
  static long sendBatches(Transport transport, long first, long count, int batch, int length) {
    awaitMessage(transport);
    long start = System.nanoTime();
    long end = first + count;
    for (long value = first; value < end; ) {
      long batchEnd = Math.min(value + batch, end);
      while (value < batchEnd) {
        int sent = transport.trySendBatch(value, (int) (batchEnd - value), length);
        if (sent == 0) {
          Thread.onSpinWait();
        }
        value += sent;
      }
    }
    return awaitEnd(transport, start, end - 1);
  }

  private static long awaitEnd(Transport transport, long start, long last) {
    awaitMessage(transport);
    long nanos = System.nanoTime() - start;
    if (transport.lastValue() != last) {
      throw new IllegalStateException("messages were lost or duplicated");
    }
    return nanos;
  }

  /**
   * Reports to the peer that this side is ready, receives messages, and reports the last one. The
   * clock, in nanoseconds, serves to enforce {@link #LOST_NANOS}.
   */
  static void sink(Transport transport, long count, LongSupplier clock) {
    long before = transport.lastValue();
    send(transport, START, Transport.SHORTEST);
    takeAll(
        transport,
        count,
        clock,
        taken -> {
          if (transport.lastValue() != before + taken) {
            throw new IllegalStateException(
                "a message was lost, duplicated or reordered: message %s arrived instead of %s"
                    .formatted(transport.lastValue(), before + taken));
          }
        });
    send(transport, transport.lastValue(), Transport.SHORTEST);
  }

  /** Receives messages, and calls the check after each poll with the number received so far. */
  private static void takeAll(
      Transport transport, long count, LongSupplier clock, LongConsumer check) {
    Stall stall = new Stall(clock);
    for (long taken = 0; taken < count; ) {
      int now = transport.poll((int) Math.min(POLL_LIMIT, count - taken));
      if (now == 0) {
        stall.look(taken, count);
      } else {
        taken += now;
        stall.end();
        check.accept(taken);
      }
    }
  }

  /**
   * Sends messages from several threads on one connection, as fast as possible, to a peer that
   * executes {@link #sinkOfSeveral}. Returns the time from all being ready until the peer has
   * received the last one, in nanoseconds.
   */
  static long sendFromSeveral(
      Transport transport, int senders, long each, int length, IntConsumer pin) {
    CountDownLatch ready = new CountDownLatch(senders);
    CountDownLatch go = new CountDownLatch(1);
    AtomicBoolean stopped = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(senders);
    List<MessageSender> opened = new ArrayList<>();
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < senders; i++) {
        int index = i;
        MessageSender sender = transport.newSender();
        opened.add(sender);
        running.add(
            threads.submit(() -> {
              pin.accept(index);
              ready.countDown();
              go.await();
              sendOwn(sender, index, each, length, stopped);
              return null;
            }));
      }
      ready.await();
      awaitMessage(transport);
      long start = System.nanoTime();
      go.countDown();
      for (Future<?> one : running) {
        one.get(); // this thread may share a processor with them: it must not spin yet
      }
      return awaitEnd(transport, start, senders * each);
    } catch (ExecutionException e) {
      throw new IllegalStateException("a sending thread has failed: " + e.getCause(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } finally {
      // After a failure others may still send: they must end before the caller closes the
      // connection.
      stopped.set(true);
      threads.shutdownNow();
      threads.close();
      opened.forEach(MessageSender::close);
    }
  }

  private static void sendOwn(
      MessageSender sender, int index, long count, int length, AtomicBoolean stopped) {
    for (long number = 0; number < count; number++) {
      long value = SenderSequences.value(index, number);
      for (int spins = 0; !sender.trySend(value, length); spins++) {
        if (stopped.get()) {
          return; // the receiver may have stopped as well
        }
        if (spins < SPINS) {
          Thread.onSpinWait();
        } else {
          Thread.yield(); // the others may be on the same processor
        }
      }
    }
  }

  /**
   * Does the same as {@link #sink} for the messages of several threads, and reports their number.
   */
  static void sinkOfSeveral(Transport transport, long count, LongSupplier clock) {
    SenderSequences sequences = transport.sequences();
    sequences.restart();
    send(transport, START, Transport.SHORTEST);
    takeAll(transport, count, clock, taken -> sequences.check());
    send(transport, count, Transport.SHORTEST);
  }

  /**
   * Sends single messages to a peer that executes {@link #blockingEcho}, each after the receiver
   * has been blocked for {@link Measure#BLOCKED_NANOS}. The times are from before the send until
   * after the receive, in nanoseconds of the clock shared by all processes.
   */
  static void wakeUp(Transport transport, long first, long[] oneWay, int length) {
    long[] sent = new long[oneWay.length];
    for (int i = 0; i < oneWay.length; i++) {
      pause();
      sent[i] = System.nanoTime();
      send(transport, first + i, length);
      awaitMessage(transport);
      checkEcho(transport, first + i);
    }
    for (int i = 0; i < oneWay.length; i++) {
      awaitMessage(transport);
      oneWay[i] = transport.lastValue() - sent[i];
    }
  }

  /** Spins, so that this thread's processor stays busy and only the receiver's is idle. */
  private static void pause() {
    long end = System.nanoTime() + Measure.BLOCKED_NANOS;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }

  /** Echoes each message, and then sends the times of their arrival. */
  static void blockingEcho(Transport transport, int count, int length) {
    long[] received = new long[count];
    for (int i = 0; i < count; i++) {
      awaitMessage(transport);
      received[i] = System.nanoTime();
      send(transport, transport.lastValue(), length);
    }
    for (long nanos : received) {
      send(transport, nanos, Transport.SHORTEST);
    }
  }

  private static void send(Transport transport, long value, int length) {
    while (!transport.trySend(value, length)) {
      Thread.onSpinWait();
    }
  }

  private static void awaitMessage(Transport transport) {
    while (transport.poll(1) == 0) {
      Thread.onSpinWait();
    }
  }

  /** A period without messages, after which one is assumed lost. */
  private static final class Stall {

    private final LongSupplier clock;
    private int looks;
    private long start;

    Stall(LongSupplier clock) {
      this.clock = clock;
    }

    /** Checks the limit; called after each empty poll. */
    void look(long taken, long count) {
      // Polling again immediately would take the line from the sender while it writes to it.
      Thread.onSpinWait();
      if ((++looks & LOOKS_PER_CLOCK - 1) == 0) {
        checkClock(taken, count);
      }
    }

    private void checkClock(long taken, long count) {
      long now = clock.getAsLong();
      if (looks == LOOKS_PER_CLOCK) {
        start = now;
      } else if (now - start > LOST_NANOS) {
        throw new IllegalStateException(
            "messages were lost: %s of %s arrived, and no other within %s s"
                .formatted(taken, count, TimeUnit.NANOSECONDS.toSeconds(LOST_NANOS)));
      }
    }

    void end() {
      looks = 0;
    }
  }
}
