// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.idle;

import dev.ferrule.Connection;
import dev.ferrule.MessageHandler;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * The processor time of a message from its completion to the program, including its share of the
 * buffers that are posted again and of the credits or acknowledgments for the peer. {@code
 * build-support/bench/rdma-path.sh} runs it beside the same path in C.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 400, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 2, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class RdmaReceiveBenchmark {

  private static final int LENGTH = 64;

  /** The provider. */
  @Param({"sendrecv", "magicring"})
  public String provider;

  private final ReceiveRegion[] regions = new ReceiveRegion[16];
  private Connection connection;
  private final MessageHandler handler = this::onMessage;
  private Receiver receiver;
  private long sum;

  /** Called by JMH. */
  public RdmaReceiveBenchmark() {}

  /** Connects to a peer; each poll finds as many of its messages as an invocation receives. */
  @Setup
  public void connect(BenchmarkParams parameters) {
    connection = IdleConnection.open(provider, parameters.getOpsPerInvocation(), LENGTH);
    receiver = connection.receiver();
  }

  /** Closes the connection. */
  @TearDown
  public void close() {
    connection.close(Duration.ZERO);
  }

  private void onMessage(MemorySegment buffer, long offset, int length) {
    sum += buffer.get(ValueLayout.JAVA_LONG_UNALIGNED, offset) + length;
  }

  private void poll(int count) {
    int received = 0;
    while (received < count) { // a poll may find only credits or an acknowledgment
      received += receiver.poll(handler, count - received);
    }
  }

  /** Polls a message. */
  @Benchmark
  public long poll1() {
    poll(1);
    return sum;
  }

  /** Polls 16 messages, which one poll of the device returns. */
  @Benchmark
  @OperationsPerInvocation(16)
  public long poll16() {
    poll(16);
    return sum;
  }

  /** Receives a message, and frees it. */
  @Benchmark
  public long receive1() {
    receive(1);
    return sum;
  }

  /** Receives 16 messages, which one poll of the device returns, and frees them. */
  @Benchmark
  @OperationsPerInvocation(16)
  public long receive16() {
    receive(16);
    return sum;
  }

  private void receive(int count) {
    for (int i = 0; i < count; i++) {
      ReceiveRegion region = receiver.receive();
      onMessage(region.buffer(), region.offset(), region.length());
      regions[i] = region;
    }
    for (int i = 0; i < count; i++) {
      regions[i].close();
    }
  }
}
