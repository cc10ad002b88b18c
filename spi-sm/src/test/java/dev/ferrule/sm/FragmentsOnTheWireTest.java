// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteAccessException;
import dev.ferrule.RemoteMemory;
import dev.ferrule.Rma;
import dev.ferrule.RmaHandle;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Remote memory access where neither KNEM nor cross-memory attach is used, as seen by a target that
 * knows no more than docs/protocol-sm.md says: every byte that the initiator writes is read at its
 * documented place.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FragmentsOnTheWireTest {

  private static final int LENGTH = 300_000;
  private static final int REGION = 3;
  private static final long GENERATION = 0x1122334455667788L;
  private static final int LINES = 1024; // of the initiator's buffer: the option rmaBuffer=64KiB

  @TempDir Path directory = Path.of("");

  private final byte[] exposed = new byte[LENGTH];
  private Listener listener;
  private DocumentedTarget target;
  private Connection initiator;

  @BeforeEach
  void connect() throws Exception {
    listener =
        Ferrule.listen(
            URI.create("sm://" + directory + "?rma=mmap&rmaBuffer=64KiB&allocatable=0&ring=4KiB"));
    CompletableFuture<Connection> accepting = CompletableFuture.supplyAsync(listener::accept);
    target = new DocumentedTarget(Path.of(listener.uri().getPath()), exposed);
    initiator = accepting.get();
    target.expose(REGION, GENERATION, LENGTH);
  }

  @AfterEach
  void close() {
    initiator.close();
    listener.close();
    target.close();
  }

  /** The handle of the target's region. */
  private RmaHandle handle() {
    MemorySegment bytes = MemorySegment.ofArray(new byte[28]);
    bytes.set(JAVA_BYTE, 0, (byte) 1); // version
    bytes.set(JAVA_BYTE, 1, (byte) 3); // read and write
    bytes.set(JAVA_INT.withByteAlignment(1), 4, REGION);
    bytes.set(JAVA_LONG.withByteAlignment(1), 8, GENERATION);
    bytes.set(JAVA_LONG.withByteAlignment(1), 16, LENGTH);
    return RmaHandle.of(bytes.toArray(JAVA_BYTE));
  }

  private CompletableFuture<Void> inBackground(Runnable work) {
    return CompletableFuture.runAsync(work, task -> Thread.ofPlatform().start(task));
  }

  @Test
  void aWriteIsFragmentsOfAHeaderAndAPayloadAnnouncedByTheFifo() {
    try (Arena arena = Arena.ofShared()) {
      byte[] bytes = new byte[LENGTH - 100];
      new Random(1).nextBytes(bytes);
      MemorySegment memory = arena.allocate(bytes.length);
      memory.copyFrom(MemorySegment.ofArray(bytes));
      Rma rma = initiator.rma();
      RemoteMemory remote = rma.attach(handle());
      RegisteredMemory local = initiator.register(memory);
      CompletableFuture<Void> writing =
          inBackground(() -> rma.await(rma.write(local, 0, remote, 100, bytes.length)));

      target.serveUntil(writing, DocumentedTarget.WRITE, 100, bytes.length);

      writing.join();
      assertThat(MemorySegment.ofArray(exposed).asSlice(100).mismatch(memory)).isEqualTo(-1);
      assertThat(new byte[100]).isEqualTo(Arrays.copyOf(exposed, 100));
      assertThat(target.mostLines()).isBetween(2, LINES);
    }
  }

  @Test
  void aReadIsTheSameAndTheTargetFillsThePayload() {
    try (Arena arena = Arena.ofShared()) {
      new Random(2).nextBytes(exposed);
      MemorySegment memory = arena.allocate(LENGTH - 64);
      Rma rma = initiator.rma();
      RemoteMemory remote = rma.attach(handle());
      RegisteredMemory local = initiator.register(memory);
      CompletableFuture<Void> reading =
          inBackground(() -> rma.await(rma.read(local, 0, remote, 64, LENGTH - 64)));

      target.serveUntil(reading, DocumentedTarget.READ, 64, LENGTH - 64);

      reading.join();
      assertThat(MemorySegment.ofArray(exposed).asSlice(64).mismatch(memory)).isEqualTo(-1);
      assertThat(target.mostLines()).isBetween(2, LINES);
    }
  }

  /** The target does nothing, so that the space runs out. */
  @Test
  void withoutSpaceAnAccessThatTriesOrTimesOutHasNoEffect() {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(LENGTH);
      Rma rma = initiator.rma();
      RemoteMemory remote = rma.attach(handle());
      RegisteredMemory local = initiator.register(memory);
      long started = 0;
      while (rma.tryWrite(local, 0, remote, 0, 1000) != 0) {
        started++;
      }
      assertThat(started).isPositive();

      assertThat(rma.tryRead(local, 0, remote, 0, 1000)).isZero();
      for (Duration timeout : List.of(Duration.ofMillis(1), Duration.ZERO)) {
        assertThatThrownBy(() -> rma.write(local, 0, remote, 0, 1000, timeout))
            .isInstanceOf(OperationTimeoutException.class);
        assertThatThrownBy(() -> rma.read(local, 0, remote, 0, 1000, timeout))
            .isInstanceOf(OperationTimeoutException.class);
      }
      assertThatThrownBy(() -> rma.tryWrite(local, 0, remote, 0, LENGTH))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("300000 bytes by fragments cannot start without waiting");
      long next = started + 1;
      assertThatThrownBy(() -> rma.isComplete(next)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void aStatusOfTheTargetEndsTheOperation() {
    try (Arena arena = Arena.ofShared()) {
      Rma rma = initiator.rma();
      RemoteMemory remote = rma.attach(handle());
      RegisteredMemory local = initiator.register(arena.allocate(100));
      target.answerWith(DocumentedTarget.NOT_EXPOSED_FOR_THAT);
      CompletableFuture<Void> writing =
          inBackground(() -> {
            long failed = rma.write(local, 0, remote, 0, 100);
            assertThatThrownBy(() -> rma.await(failed))
                .isInstanceOfSatisfying(
                    RemoteAccessException.class, e -> assertThat(e.operation()).isEqualTo(failed));
            rma.await(failed); // once
          });

      target.serveUntil(writing, DocumentedTarget.WRITE, 0, 100);

      writing.join();
    }
  }
}
