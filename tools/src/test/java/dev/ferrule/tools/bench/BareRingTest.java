// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BareRingTest {

  private static final long PATIENT_NANOS = TimeUnit.MINUTES.toNanos(2);
  private static final Runnable ALIVE = () -> {};

  @TempDir Path folder;

  private Path file;

  @BeforeEach
  void createFile() throws IOException {
    file = Files.write(folder.resolve("floor"), new byte[Math.toIntExact(FloorFile.BYTES)]);
  }

  private BareRing client() throws IOException {
    return BareRing.ofClient(file, ALIVE);
  }

  private BareRing server() throws IOException {
    return BareRing.ofServer(file, PATIENT_NANOS, ALIVE);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 8, 13, 64, 128, 1000, 4096, BareRing.MAX_PAYLOAD})
  void everyMessageOfAStreamArrivesInOrderOverSeveralLaps(int size) throws Exception {
    long count = 5L * BareRing.capacity(size) + 3;
    try (BareRing ours = client();
        BareRing theirs = server()) {
      CompletableFuture<Long> wrong = CompletableFuture.supplyAsync(() -> theirs.take(count, size));
      assertThat(ours.stream(count, size)).isPositive();
      assertThat(wrong.join()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 8, 13, 64, 1000, BareRing.MAX_PAYLOAD})
  void bouncesAreTimedOneByOneOverSeveralLaps(int size) throws Exception {
    int count = Math.min(3 * BareRing.capacity(size) + 3, 40_000);
    long[] periods = new long[count];
    try (BareRing ours = client();
        BareRing theirs = server()) {
      CompletableFuture<Void> echo = CompletableFuture.runAsync(() -> theirs.echo(count + 1, size));
      ours.bounce(periods, count, size);
      echo.join();
    }
    assertThat(Arrays.stream(periods).allMatch(period -> period >= 0)).isTrue();
    assertThat(Arrays.stream(periods).sum()).isPositive();
  }

  /** Records of a different length overwrite those of earlier rounds at different positions. */
  @Test
  void roundsOfDifferentSizesAndKindsFollowEachOther() throws Exception {
    int[] sizes = {8, 64, 0, 4096, 8, 16, 8};
    int count = 1_000;
    try (BareRing ours = client();
        BareRing theirs = server()) {
      CompletableFuture<Long> wrong =
          CompletableFuture.supplyAsync(() -> {
            long sum = 0;
            for (int size : sizes) {
              sum += theirs.take(count, size);
              theirs.echo(count + 1, size);
            }
            return sum;
          });
      for (int size : sizes) {
        ours.stream(count, size);
        ours.bounce(new long[count], count, size);
      }
      assertThat(wrong.join()).isZero();
    }
  }

  @Test
  void aSenderWaitsWhileTheRingIsFullAndOverwritesNothing() throws Exception {
    int size = 64;
    CountDownLatch waiting = new CountDownLatch(1);
    long count = BareRing.capacity(size) + 1L;
    try (BareRing ours = BareRing.ofClient(file, waiting::countDown);
        BareRing theirs = server()) {
      CompletableFuture<Long> sending =
          CompletableFuture.supplyAsync(() -> ours.stream(count, size));
      waiting.await();
      assertThat(sending).isNotDone();
      assertThat(theirs.take(count, size)).isZero();
      sending.join();
    }
  }

  @Test
  void aCorruptPayloadIsCounted() throws Exception {
    CountDownLatch waiting = new CountDownLatch(1);
    try (BareRing ours = BareRing.ofClient(file, waiting::countDown);
        BareRing theirs = server()) {
      CompletableFuture<Long> sending = CompletableFuture.supplyAsync(() -> ours.stream(3, 8));
      waiting.await(); // the sender waits for the acknowledgment: all records are written
      overwrite(2L, 77);
      assertThat(theirs.take(3, 8)).isEqualTo(1);
      sending.join();
    }
  }

  /** Replaces a word everywhere in the file, except words never written. */
  private void overwrite(long old, long word) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer memory =
          channel
              .map(FileChannel.MapMode.READ_WRITE, 0, channel.size())
              .order(ByteOrder.nativeOrder());
      for (int i = 0; i < memory.capacity(); i += Long.BYTES) {
        if (memory.getLong(i) == old) {
          memory.putLong(i, word);
        }
      }
    }
  }

  @Test
  void theEndOfThePeerEndsEveryWait() throws Exception {
    Runnable gone =
        () -> {
          throw new IllegalStateException("gone");
        };
    try (BareRing ours = BareRing.ofClient(file, gone)) {
      assertThatThrownBy(() -> ours.bounce(new long[1], 1, 8)).hasMessage("gone");
      assertThatThrownBy(() -> ours.stream(1L << 20, 8)).hasMessage("gone");
    }
    createFile();
    try (BareRing theirs = BareRing.ofServer(file, PATIENT_NANOS, gone)) {
      assertThatThrownBy(() -> theirs.take(1, 8)).hasMessage("gone");
      assertThatThrownBy(() -> theirs.echo(1, 8)).hasMessage("gone");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aClientThatIsAliveAndSendsNothingTimesOut(boolean echo) throws Exception {
    try (BareRing theirs = BareRing.ofServer(file, 1, ALIVE)) {
      assertThatThrownBy(
              () -> {
                if (echo) {
                  theirs.echo(1, 8);
                } else {
                  theirs.take(1, 8);
                }
              })
          .isInstanceOf(ToolException.class)
          .hasMessageContaining("stopped using the bare ring");
    }
  }

  /** The memory is accessed without checks, so an access after unmapping would crash the JVM. */
  @Test
  void closingWaitsForTheThreadInsideAndEndsItsWait() throws Exception {
    CountDownLatch waiting = new CountDownLatch(1);
    BareRing ours = BareRing.ofClient(file, waiting::countDown);
    CompletableFuture<Long> sending = CompletableFuture.supplyAsync(() -> ours.stream(1, 8));
    waiting.await();
    ours.close();
    assertThatThrownBy(sending::join)
        .isInstanceOf(CompletionException.class)
        .hasMessageContaining("closed");
    assertThatThrownBy(() -> ours.stream(1, 8)).hasMessageContaining("closed");
    ours.close();
  }

  @Test
  void aSizeBeyondTheRingIsRefused() throws Exception {
    try (BareRing ours = client()) {
      for (int size : new int[] {-1, BareRing.MAX_PAYLOAD + 1, Integer.MAX_VALUE}) {
        assertThatThrownBy(() -> ours.take(1, size)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ours.stream(1, size)).isInstanceOf(IllegalArgumentException.class);
      }
    }
  }

  @Test
  void aMissingOrTooShortFileIsAnError() throws Exception {
    assertThatThrownBy(() -> BareRing.ofClient(folder.resolve("absent"), ALIVE))
        .isInstanceOf(NoSuchFileException.class);
    Path tooShort = Files.write(folder.resolve("short"), new byte[4096]);
    assertThatThrownBy(() -> BareRing.ofClient(tooShort, ALIVE)).isInstanceOf(IOException.class);
    assertThat(Files.size(tooShort)).as("not extended").isEqualTo(4096);
  }
}
