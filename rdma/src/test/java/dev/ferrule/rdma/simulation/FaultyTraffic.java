// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.posix.Errno;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.cm.CmEvent;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Two connections, and one random fault before or during their messages. Each call may fail with a
 * FerruleException. Received messages must be in order and without a gap.
 */
final class FaultyTraffic {

  private static final int MESSAGES = 100;
  private static final int LONGEST = 2_000;
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final List<String> FUNCTIONS =
      List.of(
          "createEventChannel",
          "createId",
          "bindAddr",
          "listen",
          "resolveAddr",
          "resolveRoute",
          "connect",
          "accept",
          "reject",
          "disconnect",
          "setOption",
          "initQpAttr",
          "getCmEvent",
          "queryDevice",
          "allocPd",
          "regMr",
          "regMrIova",
          "createCompChannel",
          "createCq",
          "createSrq",
          "createQp",
          "modifyQp",
          "postSend",
          "postRecv",
          "postSrqRecv",
          "pollCq",
          "reqNotifyCq",
          "getCqEvent",
          "getAsyncEvent");
  private static final List<Integer> ERRORS =
      List.of(Errno.ENOMEM, Errno.EINVAL, Errno.ENODEV, Errno.EIO, Errno.EAGAIN);

  private final SplittableRandom random;
  private final SimulatedFabric fabric;
  private final Runnable fault;
  private final int
      faultAt; // the message before which the fault occurs; below 0: before the listener

  FaultyTraffic(long number, SimulatedFabric fabric) {
    this.random = new SplittableRandom(number);
    this.fabric = fabric;
    this.fault = chooseFault();
    this.faultAt = random.nextInt(-MESSAGES, MESSAGES);
  }

  private <T> T any(List<T> all) {
    return all.get(random.nextInt(all.size()));
  }

  private Runnable chooseFault() {
    String function = any(FUNCTIONS);
    int errno = any(ERRORS);
    double probability = random.nextBoolean() ? 0.02 : 0.3;
    CompletionStatus status = any(List.of(CompletionStatus.values()));
    List<AsyncEvent.Type> events =
        List.of(
            AsyncEvent.Type.COMPLETION_QUEUE_ERROR,
            AsyncEvent.Type.QUEUE_PAIR_FATAL,
            AsyncEvent.Type.QUEUE_PAIR_ACCESS_ERROR,
            AsyncEvent.Type.DEVICE_FATAL);
    AsyncEvent.Type event = any(events);
    CmEvent.Type ending = random.nextBoolean() ? CmEvent.Type.UNREACHABLE : CmEvent.Type.REJECTED;
    return switch (random.nextInt(10)) {
      case 0 -> () -> fabric.failSends(status, 0.01);
      case 1 -> () -> fabric.failReceives(status, 0.01);
      case 2 -> () -> fabric.report(event);
      case 3 -> fabric::disconnectOne;
      case 4 -> fabric::cutOne;
      case 5 -> () -> fabric.endNextRequest(ending, CmEvent.REJECTED_BY_CONSUMER);
      case 6 -> fabric::removeDevice;
      default -> () -> fabric.failRandomly(function, errno, probability);
    };
  }

  /** Runs until both sides of all connections are closed. */
  void run(ConnectionProvider provider, ConnectionOptions options) {
    if (faultAt < 0) {
      fault.run();
    }
    URI address = URI.create(provider.scheme() + "://127.0.0.1:0");
    try (Listener listener = provider.listen(address, options)) {
      List<CompletableFuture<Void>> sides =
          List.of(
              start(() -> serve(() -> provider.connect(listener.uri(), options), faultAt)),
              start(() -> serve(() -> listener.accept(PATIENCE), MESSAGES)),
              start(() -> serve(() -> provider.connect(listener.uri(), options), MESSAGES)),
              start(() -> serve(() -> listener.accept(PATIENCE), MESSAGES)));
      sides.forEach(CompletableFuture::join);
    } catch (FerruleException e) {
      return; // the fault has prevented the listener
    }
  }

  static CompletableFuture<Void> start(Runnable work) {
    return CompletableFuture.runAsync(work, task -> Thread.ofPlatform().daemon().start(task));
  }

  private void serve(Supplier<Connection> opening, int faultBefore) {
    try (Connection connection = opening.get()) {
      CompletableFuture<Void> receiving = start(() -> receive(connection));
      send(connection, faultBefore);
      receiving.join();
    } catch (FerruleException e) {
      return; // the fault has ended the connection
    }
  }

  private void send(Connection connection, int faultBefore) {
    MemorySegment message = Arena.ofAuto().allocate(LONGEST, 8);
    for (int number = 0; number < MESSAGES; number++) {
      if (number == faultBefore) {
        fault.run();
      }
      try {
        message.set(ValueLayout.JAVA_INT, 0, number);
        connection.sender().send(message, 0, length(number));
      } catch (FerruleException e) {
        connection.close(); // otherwise the peer would wait for the rest of the messages
        return;
      }
    }
  }

  private static int length(int number) {
    return Integer.BYTES + number * 37 % (LONGEST - Integer.BYTES);
  }

  /**
   * Receives until the connection ends: if this thread gave up, the peer's sender would wait for
   * buffer space.
   */
  private static void receive(Connection connection) {
    for (int number = 0; number < MESSAGES; number++) {
      try (ReceiveRegion message = connection.receiver().receive()) {
        int actual = message.segment().get(ValueLayout.JAVA_INT_UNALIGNED, 0);
        if (actual != number || message.length() != length(number)) {
          throw new AssertionError("message " + actual + " instead of " + number);
        }
      } catch (FerruleException e) {
        return; // the fault has ended the connection, or this was the last message before it
      }
    }
  }
}
