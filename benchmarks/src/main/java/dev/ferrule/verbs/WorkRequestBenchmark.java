// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the processor time of posting and polling, per message, with a device that does nothing:
 * Java's overhead over C. {@link #bareCall} is the JVM's own share of a post, the transition to
 * native code.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 2, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class WorkRequestBenchmark {

  private static final int BATCH = 32;
  private static final int LENGTH = 64;
  private static final int KEY = 7;
  private static final MethodHandle CALL =
      Linker.nativeLinker()
          .downcallHandle(
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT,
                  ValueLayout.JAVA_LONG,
                  ValueLayout.JAVA_LONG,
                  ValueLayout.JAVA_LONG));

  private final IdleDevice device = new IdleDevice();
  private final QueuePair queuePair = device.queuePair();
  private final CompletionQueue completions = device.completionQueue();
  private final SendChain sends = new SendChain(BATCH);
  private final ReceiveChain receives = new ReceiveChain(BATCH);
  private long number;

  /** Called by JMH. */
  public WorkRequestBenchmark() {}

  /** Calls the device's function directly, without Ferrule. */
  @Benchmark
  public int bareCall() throws Throwable {
    return (int) CALL.invokeExact(device.noOperation(), 1L, 2L, 3L);
  }

  /** Fills in and posts one send. */
  @Benchmark
  public int postSend() {
    fill(0);
    return queuePair.post(sends, 0, 1);
  }

  /** Posts 32 sends with one doorbell. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public int postSendBatch() {
    for (int i = 0; i < BATCH; i++) {
      fill(i);
    }
    return queuePair.post(sends, 0, BATCH);
  }

  private void fill(int index) {
    sends.set(index, SendOperation.SEND_WITH_IMMEDIATE, ++number, number, LENGTH, KEY, 0);
    sends.setImmediate(index, (int) number);
  }

  /** Posts 32 receives with one call. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public int postReceiveBatch() {
    for (int i = 0; i < BATCH; i++) {
      receives.set(i, ++number, number, LENGTH, KEY);
    }
    return queuePair.post(receives, 0, BATCH);
  }

  /** Polls one completion, and reads it. */
  @Benchmark
  public long poll() {
    return completions.poll(1) + read(0);
  }

  /** Polls 32 completions with one call, and reads them. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long pollBatch() {
    int count = completions.poll(BATCH);
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += read(i);
    }
    return sum;
  }

  private long read(int index) {
    return completions.isSuccess(index)
        ? completions.workRequestId(index)
            + completions.length(index)
            + completions.immediate(index)
        : -1;
  }
}
