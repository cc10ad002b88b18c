// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ExposedMemory;
import dev.ferrule.Listener;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteMemory;
import dev.ferrule.Rma;
import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.libc.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Operations beyond 2^31 and 2^32 bytes, by each method. They copy that many bytes; but the memory
 * is a few megabytes, mapped repeatedly, one mapping behind the other, so that it fits any machine.
 * The byte at an offset depends on its remainder by a length of which neither 2^31 nor 2^32 is a
 * multiple: bytes that are misplaced by that much differ from the expected ones.
 */
@Tag("long")
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RmaLargeTest {

  private static final long MIB = 1L << 20;
  private static final long LENGTH = (1L << 32) + 100 * MIB + 12345;
  private static final long PERIOD = 5 * MIB + 4096 * 5;

  /** Distance of either side's bytes from the start of a page. */
  private static final long LOCAL_OFFSET = 4096 * 3 + 7;

  private static final long REMOTE_OFFSET = 65;

  private final SmUnderTest addresses = new SmUnderTest();
  private final FakeKnem knem = new FakeKnem();
  private final SmProvider provider = new SmProvider(() -> knem);

  @AfterEach
  void removeDirectory() {
    addresses.close();
  }

  /** A few megabytes of memory, mapped repeatedly. */
  private static final class Repeated implements AutoCloseable {
    private final MemorySegment address;
    private final MemorySegment whole;

    Repeated(long length) {
      int file = LibC.memfd_create(Arena.ofAuto().allocateFrom("repeated"), Posix.MFD_CLOEXEC);
      assertThat(file).isNotNegative();
      try {
        assertThat(LibC.posix_fallocate(file, 0, PERIOD)).isZero();
        long rounded = (length + PERIOD - 1) / PERIOD * PERIOD;
        address =
            map(
                MemorySegment.NULL,
                rounded,
                Posix.PROT_NONE,
                Posix.MAP_PRIVATE | Posix.MAP_ANONYMOUS | Posix.MAP_NORESERVE,
                -1);
        whole = address.reinterpret(rounded);
        for (long at = 0; at < rounded; at += PERIOD) {
          map(
              whole.asSlice(at),
              PERIOD,
              Posix.PROT_READ | Posix.PROT_WRITE,
              Posix.MAP_SHARED | LibC.MAP_FIXED(),
              file);
        }
      } finally {
        LibC.close(file);
      }
    }

    private static MemorySegment map(
        MemorySegment at, long length, int protection, int flags, int file) {
      MemorySegment result = LibC.mmap(at, length, protection, flags, file, 0);
      assertThat(result.address()).as("mmap").isNotEqualTo(-1);
      return result;
    }

    MemorySegment whole() {
      return whole;
    }

    MemorySegment once() {
      return whole.asSlice(0, PERIOD);
    }

    @Override
    public void close() {
      LibC.munmap(address, whole.byteSize());
    }
  }

  /** The content from 0 on; the byte at an offset depends on its remainder by the period. */
  private static MemorySegment content(int seed) {
    byte[] bytes = new byte[(int) PERIOD];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) ((i * 0x9e3779b97f4a7c15L >>> 40) + seed);
    }
    return MemorySegment.ofArray(bytes);
  }

  /** Copies to the memory at an offset, from where it continues at the memory's start. */
  private static void copy(MemorySegment from, long length, MemorySegment once, long offset) {
    long begin = offset % PERIOD;
    long first = Math.min(length, PERIOD - begin);
    MemorySegment.copy(from, 0, once, begin, first);
    MemorySegment.copy(from, first, once, 0, length - first);
  }

  /** Fills the memory so that the content from 0 on begins at an offset. */
  private static void fill(Repeated memory, long offset, int seed) {
    copy(content(seed), PERIOD, memory.once(), offset);
  }

  private static void assertContent(Repeated memory, long offset, int seed) {
    MemorySegment expected = MemorySegment.ofArray(new byte[(int) PERIOD]);
    copy(content(seed), PERIOD, expected, offset);
    assertSame(memory, expected);
  }

  private static void assertSame(Repeated memory, MemorySegment expected) {
    assertThat(memory.once().mismatch(expected)).as("the first wrong byte").isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"knem", "cma", "mmap"})
  void moreThanFourGibibytesAreWrittenByOneSideAndReadByTheOtherAtTheSameTime(String way) {
    ConnectionOptions options = ConnectionOptions.builder().set("rma", way).build();
    try (Listener listener = provider.listen(addresses.listenAddress(), options);
        Repeated atServer = new Repeated(LENGTH + REMOTE_OFFSET);
        Repeated atClient = new Repeated(LENGTH + REMOTE_OFFSET)) {
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> provider.connect(listener.uri(), options));
      try (Connection server = listener.accept();
          Connection client = connecting.join()) {
        fill(atClient, REMOTE_OFFSET, 1);
        CompletableFuture<Void> reading =
            CompletableFuture.runAsync(
                () -> read(server, expose(client, atClient)),
                task -> Thread.ofPlatform().start(task));
        write(client, expose(server, atServer));
        reading.join();
        assertContent(atServer, REMOTE_OFFSET, 2);
        assertThat(client.counters().rmaPath()).hasValue(way);
        assertThat(server.counters().rmaPath()).hasValue(way);
      }
    }
  }

  private static RmaHandle expose(Connection connection, Repeated memory) {
    return connection.rma().expose(memory.whole(), RmaRight.READ, RmaRight.WRITE).handle();
  }

  private static void read(Connection connection, RmaHandle handle) {
    Rma rma = connection.rma();
    try (Repeated mine = new Repeated(LENGTH + LOCAL_OFFSET);
        RegisteredMemory local = connection.register(mine.whole())) {
      rma.await(rma.read(local, LOCAL_OFFSET, rma.attach(handle), REMOTE_OFFSET, LENGTH));
      assertContent(mine, LOCAL_OFFSET, 1);
    }
  }

  private static void write(Connection connection, RmaHandle handle) {
    Rma rma = connection.rma();
    try (Repeated mine = new Repeated(LENGTH + LOCAL_OFFSET);
        RegisteredMemory local = connection.register(mine.whole())) {
      fill(mine, LOCAL_OFFSET, 2);
      rma.await(rma.write(local, LOCAL_OFFSET, rma.attach(handle), REMOTE_OFFSET, LENGTH));
    }
  }

  /** The bytes beside a part that crosses a boundary must stay unchanged. */
  @ParameterizedTest
  @ValueSource(strings = {"knem", "cma", "mmap"})
  void onlyThePartIsAccessedWhereOffsetsPassTheLimitsOfIntegers(String way) {
    ConnectionOptions options = ConnectionOptions.builder().set("rma", way).build();
    try (Listener listener = provider.listen(addresses.listenAddress(), options);
        Repeated theirs = new Repeated(LENGTH);
        Repeated mine = new Repeated(LENGTH)) {
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> provider.connect(listener.uri(), options));
      try (Connection server = listener.accept();
          Connection client = connecting.join();
          RegisteredMemory local = client.register(mine.whole());
          ExposedMemory exposed =
              server.rma().expose(theirs.whole(), RmaRight.READ, RmaRight.WRITE)) {
        Rma rma = client.rma();
        RemoteMemory remote = rma.attach(exposed.handle());
        for (long boundary : new long[] {1L << 31, 1L << 32}) {
          for (long length : new long[] {0, 1, 2, 3 * MIB + 1}) {
            long offset = boundary - (length + 1) / 2;
            checkPart(rma, local, mine, remote, theirs, offset, length);
          }
        }
      }
    }
  }

  private static void checkPart(
      Rma rma,
      RegisteredMemory local,
      Repeated mine,
      RemoteMemory remote,
      Repeated theirs,
      long offset,
      long length) {
    fill(mine, 0, 3);
    fill(theirs, 0, 4);
    rma.await(rma.write(local, offset, remote, offset, length));
    assertPart(theirs, offset, length, 3, 4);

    fill(mine, 0, 5);
    fill(theirs, 0, 6);
    rma.await(rma.read(local, offset, remote, offset, length));
    assertPart(mine, offset, length, 6, 5);
  }

  private static void assertPart(Repeated memory, long offset, long length, int in, int out) {
    MemorySegment expected = content(out);
    MemorySegment inside = MemorySegment.ofArray(new byte[(int) PERIOD]);
    // What is at the offset comes first.
    copy(content(in), PERIOD, inside, PERIOD - offset % PERIOD);
    copy(inside, length, expected, offset);
    assertSame(memory, expected);
  }
}
