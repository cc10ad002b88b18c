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
 * What posting and polling cost the processor, per message, with a device that does nothing: all of
 * it is what Java adds to C. {@link #bareCall} is the JVM's own share of a post, the transition.
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

  /** Made by JMH. */
  public WorkRequestBenchmark() {}

  /** A downcall of the device's function, with nothing of Ferrule's. */
  @Benchmark
  public int bareCall() throws Throwable {
    return (int) CALL.invokeExact(device.noOperation(), 1L, 2L, 3L);
  }

  /** One send: its work request is filled in and posted. */
  @Benchmark
  public int postSend() {
    fill(0);
    return queuePair.post(sends, 0, 1);
  }

  /** 32 sends with one doorbell. */
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

  /** 32 receives with one call. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public int postReceiveBatch() {
    for (int i = 0; i < BATCH; i++) {
      receives.set(i, ++number, number, LENGTH, KEY);
    }
    return queuePair.post(receives, 0, BATCH);
  }

  /** A completion queue is polled for one completion, which is read. */
  @Benchmark
  public long poll() {
    return completions.poll(1) + read(0);
  }

  /** 32 completions are polled with one call, and read. */
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
