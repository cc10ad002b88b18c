// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.idle;

import dev.ferrule.Connection;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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

/**
 * The processor time of a message from the program's call to the device's function, including its
 * share of the completions and of the peer's credits or acknowledgments. {@code
 * build-support/bench/rdma-path.sh} runs it beside the same path in C.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 400, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 2, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class RdmaSendBenchmark {

  /** The provider. */
  @Param({"sendrecv", "magicring"})
  public String provider;

  /** The length of a message: one that is sent inline, and one that is not. */
  @Param({"64", "1024"})
  public int length;

  private Connection connection;
  private Sender sender;
  private MemorySegment message;

  /** Called by JMH. */
  public RdmaSendBenchmark() {}

  /** Connects. */
  @Setup
  public void connect() {
    connection = IdleConnection.open(provider, 0, length);
    sender = connection.sender();
    message = Arena.ofAuto().allocate(length, 64);
  }

  /** Closes the connection. */
  @TearDown
  public void close() {
    connection.close(Duration.ZERO);
  }

  /** Sends a copy. */
  @Benchmark
  public long send() {
    return sender.send(message);
  }

  /** Claims, writes in place, and commits. */
  @Benchmark
  public long claimCommit() {
    SendRegion region = sender.claim(length);
    MemorySegment.copy(message, 0, region.buffer(), region.offset(), length);
    return region.commit();
  }

  /** Sends 8 copies with one doorbell. */
  @Benchmark
  @OperationsPerInvocation(8)
  public void batch8() {
    batch(8);
  }

  /** Sends 64 copies with one doorbell. */
  @Benchmark
  @OperationsPerInvocation(64)
  public void batch64() {
    batch(64);
  }

  private void batch(int count) {
    for (int i = 0; i < count; i++) {
      sender.stage(message);
    }
    sender.flush();
  }
}
