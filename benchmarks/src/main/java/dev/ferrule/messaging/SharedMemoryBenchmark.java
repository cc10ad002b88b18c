// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.messaging;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.MessageHandler;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
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
 * Measures the processor time of a message over {@code sm}. One thread drives both ends of a
 * connection, so no cache line is transferred and no other thread interferes: the figures are the
 * work of the calls, on both sides together.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 2, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class SharedMemoryBenchmark implements MessageHandler {

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");
  private static final int BATCH = 32;

  /** The length of each message; its first 8 bytes are written and read. */
  @Param({"8", "64", "1024"})
  public int length;

  private Path directory;
  private Listener listener;
  private Connection client;
  private Connection server;
  private Sender sender;
  private Receiver receiver;
  private MemorySegment source;
  private long number;
  private long sum;

  /** Called by JMH. */
  public SharedMemoryBenchmark() {}

  /** Connects both ends. */
  @Setup(Level.Trial)
  public void connect() throws IOException {
    directory = Files.createTempDirectory(SHARED_MEMORY, "ferrule-benchmark-");
    listener = Ferrule.listen(URI.create("sm://" + directory + "?wait=spin"));
    CompletableFuture<Connection> accepting = CompletableFuture.supplyAsync(listener::accept);
    client = Ferrule.connect(URI.create(listener.uri() + "?wait=spin"));
    server = accepting.join();
    sender = client.sender();
    receiver = server.receiver();
    source = MemorySegment.ofArray(new long[Math.ceilDiv(length, Long.BYTES)]);
  }

  /** Closes both ends. */
  @TearDown(Level.Trial)
  public void close() throws IOException {
    client.close();
    server.close();
    listener.close();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(directory);
  }

  /** Claims, writes and sends a message, and polls it. */
  @Benchmark
  public long claimSendPoll() {
    claimAndSend();
    receiver.poll(this, 1);
    return sum;
  }

  /** Claims, writes and sends 32 messages, and polls them with one call. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long claimSendPollBatch() {
    for (int i = 0; i < BATCH; i++) {
      claimAndSend();
    }
    return pollBatch();
  }

  private long pollBatch() {
    for (int left = BATCH; left > 0; ) {
      left -= receiver.poll(this, left);
    }
    return sum;
  }

  /** Copies and sends a message with one call, and polls it. */
  @Benchmark
  public long sendPoll() {
    source.set(LONG, 0, ++number);
    sender.send(source, 0, length);
    receiver.poll(this, 1);
    return sum;
  }

  /** Copies and sends 32 messages one by one, and polls them with one call. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long sendPollBatch() {
    for (int i = 0; i < BATCH; i++) {
      source.set(LONG, 0, ++number);
      sender.send(source, 0, length);
    }
    return pollBatch();
  }

  /** Stages 32 messages, flushes them, and polls them with one call. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long stageFlushPollBatch() {
    for (int i = 0; i < BATCH; i++) {
      source.set(LONG, 0, ++number);
      sender.stage(source, 0, length);
    }
    sender.flush();
    return pollBatch();
  }

  /** Claims, writes and stages 32 messages, flushes them, and polls them with one call. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long claimStageFlushPollBatch() {
    for (int i = 0; i < BATCH; i++) {
      claimAndWrite().stage();
    }
    sender.flush();
    return pollBatch();
  }

  /** Claims, writes and sends a message, receives and frees it. */
  @Benchmark
  public long claimSendReceiveFree() {
    claimAndSend();
    ReceiveRegion message = receiver.receive();
    sum += message.buffer().get(LONG, message.offset());
    receiver.free(message);
    return sum;
  }

  /** Polls without a message. */
  @Benchmark
  public int pollNothing() {
    return receiver.poll(this, 1);
  }

  private void claimAndSend() {
    claimAndWrite().commit();
  }

  private SendRegion claimAndWrite() {
    SendRegion region = sender.claim(length);
    region.buffer().set(LONG, region.offset(), ++number);
    return region;
  }

  @Override
  public void onMessage(MemorySegment buffer, long offset, int bytes) {
    sum += buffer.get(LONG, offset);
  }
}
