// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.fail;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/**
 * The base class of all contract tests: connections that are closed at the end, background threads,
 * and timeouts.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class Contract {

  /**
   * The time limit for an event that has to happen. Only a test that fails waits this long: on an
   * emulated machine, the first connection of a JVM may take half of it.
   */
  static final Duration PATIENCE = Duration.ofMinutes(1);

  /**
   * How long a call waits for something that is not expected, or may not happen. A test must be
   * correct whether or not it happens later.
   */
  static final Duration LASTING = Duration.ofMillis(100);

  static final int KIB = 1 << 10;
  static final int MIB = 1 << 20;

  final ProviderUnderTest provider;

  private final Deque<AutoCloseable> opened = new ConcurrentLinkedDeque<>();
  private final Deque<Background<?>> started = new ConcurrentLinkedDeque<>();

  Contract(ProviderUnderTest provider) {
    this.provider = provider;
  }

  @AfterEach
  @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void leavesNothingBehind() throws Exception {
    for (AutoCloseable closeable : opened) {
      closeable.close();
    }
    List<String> abandoned = new ArrayList<>();
    for (Background<?> background : started) {
      if (background.abandon()) {
        abandoned.add(background.thread().getName());
      }
    }
    try {
      for (Background<?> background : started) {
        Throwable failure = background.unknownFailure();
        if (failure != null) {
          throw new AssertionError(background.thread().getName() + " failed: " + failure, failure);
        }
      }
      assertThat(abandoned)
          .as("leak: threads that are still busy after everything was closed")
          .isEmpty();
      eventually(
          "no files are left, which is a leak",
          () -> provider.leftOverFiles().isEmpty(),
          provider::leftOverFiles);
    } finally {
      provider.close();
    }
  }

  /** Starts from the provider's options. */
  final ConnectionOptions.Builder options() {
    return provider.options().toBuilder();
  }

  /** Starts from the provider's options, for a client that has time to connect. */
  final ConnectionOptions.Builder patientOptions() {
    return options().set(StandardOptions.CONNECT_TIMEOUT, PATIENCE);
  }

  final Listener listen() {
    return listen(provider.options());
  }

  final Listener listen(ConnectionOptions options) {
    return closeAtEnd(Ferrule.listen(provider.listenAddress(), options));
  }

  final Pair connect() {
    return connect(provider.options());
  }

  final Pair connect(ConnectionOptions.Builder options) {
    return connect(options.build());
  }

  final Pair connect(ConnectionOptions options) {
    return connect(options, options);
  }

  final Pair connect(ConnectionOptions clientOptions, ConnectionOptions serverOptions) {
    return connectTo(listen(serverOptions), clientOptions);
  }

  final Pair connectTo(Listener listener, ConnectionOptions clientOptions) {
    ConnectionOptions patient =
        clientOptions.toBuilder().set(StandardOptions.CONNECT_TIMEOUT, PATIENCE).build();
    Background<Connection> connecting = connectInBackground(listener, patient);
    Connection server;
    try {
      server = closeAtEnd(listener.accept(PATIENCE));
    } catch (OperationTimeoutException e) {
      throw new AssertionError("no client; it failed with " + connecting.failure(), e);
    }
    return new Pair(connecting.result(), provider.accepted(listener, server));
  }

  final Background<Connection> connectInBackground(Listener listener, ConnectionOptions options) {
    return inBackground("client", () -> closeAtEnd(Ferrule.connect(listener.uri(), options)));
  }

  /** Runs a task in a thread of its own, which must have ended when the test ends. */
  final <T> Background<T> inBackground(String name, Callable<T> work) {
    Background<T> background = Background.start(name, work);
    started.add(background);
    return background;
  }

  /**
   * Like {@link #inBackground(String, Callable)}, for a task without a result, which must not fail.
   * If it does, the test, which may be waiting for this thread, is interrupted.
   */
  final Background<Boolean> inBackground(String name, Work work) {
    Thread test = Thread.currentThread();
    return inBackground(
        name,
        () -> {
          try {
            work.run();
            return true;
          } catch (Throwable e) {
            test.interrupt();
            throw e;
          }
        });
  }

  final <T extends AutoCloseable> T closeAtEnd(T closeable) {
    opened.addFirst(closeable);
    return closeable;
  }

  /**
   * Sends messages of the stream, starting with number {@code first}, until a claim finds no space,
   * but at least one. Returns the next number. There may be space again at any time, because
   * transports report it asynchronously; see {@link SendLoop} for calls that have to block.
   */
  static long sendUntilBackPressure(Sender sender, MessageStream stream, long first) {
    long number = first;
    SendRegion region = sender.claim(stream.length(number), PATIENCE);
    while (region != null) {
      send(sender, region, stream, number++);
      region = sender.tryClaim(stream.length(number));
    }
    return number;
  }

  /** Sends a message of the stream by a region that was claimed for it. */
  static void send(Sender sender, SendRegion region, MessageStream stream, long number) {
    stream.write(region.buffer(), region.offset(), number);
    region.commit();
  }

  /** Claims space for a message of the stream, waits for it if necessary, and sends the message. */
  static void claimAndSend(Sender sender, MessageStream stream, long number) {
    send(sender, sender.claim(stream.length(number)), stream, number);
  }

  /** Waits until a connection has detected that its peer closed. */
  static void awaitPeersClose(Connection connection) {
    eventually(
        "the peer's close is detected",
        () -> {
          try {
            SendRegion region = connection.sender().tryClaim(0);
            if (region != null) {
              region.abort();
            }
            return false;
          } catch (ConnectionClosedException e) {
            return e.closedByPeer();
          }
        });
  }

  static void eventually(String what, BooleanSupplier condition) {
    eventually(what, condition, () -> "");
  }

  /** Waits until a condition holds; {@code details} describes the actual state. */
  static void eventually(String what, BooleanSupplier condition, Callable<?> details) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        fail("timed out waiting until " + what + " " + catchOrGet(details));
      }
      pause(Duration.ofMillis(1));
    }
  }

  /** Yields in a loop that has nothing to do, and ends the loop when its test is over. */
  static void idle() {
    if (Thread.currentThread().isInterrupted()) {
      throw new AssertionError("the test has ended without waiting for this thread");
    }
    Thread.yield();
  }

  /** Pauses between two checks of a condition; never a substitute for a check. */
  static void pause(Duration step) {
    try {
      Thread.sleep(step);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("the test has ended without waiting for this thread", e);
    }
  }

  /** Checks that a call fails because this side closed the connection or listener. */
  static void assertClosed(ThrowingCallable call) {
    assertThat(closedException(call).closedByPeer()).as("closedByPeer").isFalse();
  }

  /** Checks that a call fails because the peer closed the connection. */
  static void assertClosedByPeer(ThrowingCallable call) {
    assertThat(closedException(call).closedByPeer()).as("closedByPeer").isTrue();
  }

  /** Checks that a call that receives fails because no further message follows. */
  static void assertEndOfStream(ThrowingCallable call) {
    assertThat(catchThrowable(call)).isInstanceOf(EndOfStreamException.class);
  }

  private static ConnectionClosedException closedException(ThrowingCallable call) {
    Throwable thrown = catchThrowable(call);
    assertThat(thrown).isInstanceOf(ConnectionClosedException.class);
    return (ConnectionClosedException) thrown;
  }

  private static Object catchOrGet(Callable<?> details) {
    try {
      return details.call();
    } catch (Exception e) {
      return e;
    }
  }

  /** A task that may throw any exception. */
  @FunctionalInterface
  interface Work {
    /** Runs the task. */
    void run() throws Exception;
  }
}
