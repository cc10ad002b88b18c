// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Connection;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.Rma;
import dev.ferrule.Sender;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The client side of the measurements, which controls them: a connection to a {@link BenchServer}.
 * Used by one thread at a time.
 */
public final class BenchClient implements AutoCloseable {

  /** The time of a message on emulated or busy processors. */
  private static final double SLOW_MESSAGE_NANOS = 1e6;

  private static final double SLOW_BYTE_NANOS = 10;

  private final Connection connection;
  private final WaitStrategy waitStrategy;
  private final @Nullable IntFunction<OneWayReport> reports; // of a connection in one direction
  private @Nullable Floor floor;
  private volatile long rounds; // written by the measuring thread
  private volatile double roundNanos;

  /** Creates a client of a connection to a server; the caller closes the connection. */
  BenchClient(Connection connection, WaitStrategy waitStrategy) {
    this(connection, waitStrategy, null);
  }

  /** Creates a client of a one-way connection, with a function that gets the server's reports. */
  BenchClient(
      Connection connection,
      WaitStrategy waitStrategy,
      @Nullable IntFunction<OneWayReport> reports) {
    this.connection = connection;
    this.waitStrategy = waitStrategy;
    this.reports = reports;
  }

  /** {@return whether messages go in one direction only, as {@link OneWayCallBench} measures} */
  public boolean isOneWay() {
    return reports != null;
  }

  /** Closes a one-way connection, after which the server reports. */
  void end() {
    connection.close();
  }

  /** Returns the server's report of a round, after {@link #end}. */
  OneWayReport report(int index) {
    if (reports == null) {
      throw new IllegalStateException("the server answers on the connection itself");
    }
    return reports.apply(index);
  }

  Sender sender() {
    return connection.sender();
  }

  Receiver receiver() {
    return connection.receiver();
  }

  boolean spins() {
    return waitStrategy == WaitStrategy.SPIN;
  }

  void start(Round round) {
    begin(round.count(), round.size());
    round.send(connection.sender());
  }

  /**
   * Marks the start of a round for a {@link Watchdog}, with the number of its messages, bounces or
   * accesses, and the length of each.
   */
  void begin(long count, int size) {
    roundNanos = count * (SLOW_MESSAGE_NANOS + size * SLOW_BYTE_NANOS);
    rounds++;
  }

  /** Returns the number of rounds that have started. */
  long rounds() {
    return rounds;
  }

  /** Returns the time limit for the messages of the current round. */
  double roundNanos() {
    return roundNanos;
  }

  RoundReply awaitReply() {
    try (ReceiveRegion message = connection.receiver().receive()) {
      return RoundReply.read(message);
    }
  }

  Rma rma() {
    return connection.rma();
  }

  /** Returns the mechanism that copies the bytes of one-sided operations. */
  String rmaPath() {
    return connection.counters().rmaPath().orElse("none");
  }

  RegisteredMemory register(MemorySegment memory) {
    return connection.register(memory);
  }

  /** Requests that the server expose memory, which it or the provider allocates. */
  ExposureMessage expose(int size, boolean allocated) {
    start(Round.of(allocated ? Round.Kind.ALLOCATE : Round.Kind.EXPOSE, 0, size));
    try (ReceiveRegion message = connection.receiver().receive()) {
      return ExposureMessage.read(message);
    }
  }

  ToolException corrupt(String what) {
    return new ToolException(
        ExitCode.CONNECTION_LOST, connection.uri() + ": " + what + "; measurement aborted");
  }

  /**
   * Shares a cache line and a bare ring with the server, which are measured between the rounds.
   *
   * @return false if that is not possible, for example with a server on another host
   */
  public boolean openFloor() {
    floor = shareFloor().orElse(null);
    return floor != null;
  }

  /**
   * Shares a cache line and a bare ring with the server. The caller uses them while nothing else is
   * measured, and closes them. The server has at most one of each for a connection.
   *
   * @return both; empty if that is not possible, for example with a server on another host
   */
  public Optional<Floor> shareFloor() {
    start(Round.of(Round.Kind.OPEN_FLOOR, 0, 0));
    RoundReply reply = awaitReply();
    if (!reply.done()) {
      return Optional.empty();
    }
    try (FloorFile file = new FloorFile(reply.messages()).open()) {
      return Optional.of(Floor.open(this, file, () -> Session.requireOpen(connection)));
    } catch (IOException e) { // for example, in a container with its own PID namespace
      return Optional.empty();
    }
  }

  /** Returns the number of messages sent so far. */
  long messagesSent() {
    return connection.counters().messagesSent();
  }

  /** Returns whether the connection has failed for a reason that contains a text. */
  boolean hasFailedWith(String text) {
    RuntimeException failure = connection.failure();
    return failure != null && String.valueOf(failure.getMessage()).contains(text);
  }

  /** Ends the connection immediately, and so every wait on it. Any thread may call this. */
  void abort() {
    connection.close(Duration.ZERO);
  }

  /** Returns the floor; empty if {@link #openFloor} was not called or failed. */
  Optional<Floor> floor() {
    return Optional.ofNullable(floor);
  }

  @Override
  public void close() {
    if (floor != null) {
      floor.close();
      floor = null;
    }
  }
}
