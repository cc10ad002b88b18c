// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ferrule.posix.libc.LibC;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memory that a hostile peer shares, or that is shared with one. */
class SealedFileTest {

  private static final int PAGE = (int) Posix.PAGE;
  private static final int SIZE = 4 * PAGE;

  @TempDir private Path folder;

  private static SealedFile unsealed(String name, int flags, long size) {
    int fd = Posix.memfdCreate(name, Posix.MFD_CLOEXEC | flags);
    assumeTrue(fd >= 0, () -> "memfd_create fails with errno " + -fd);
    Posix.ftruncate(fd, size, name);
    return new SealedFile(fd);
  }

  private void assertNotMapped(SealedFile file, String reason) {
    try (file) {
      assertThatThrownBy(() -> file.map(SIZE))
          .isInstanceOf(PosixException.class)
          .hasMessageContaining(reason);
      assertThatThrownBy(() -> file.read(PAGE)).isInstanceOf(PosixException.class);
    }
  }

  @Test
  void neitherSideCanTruncateIt() {
    try (SealedFile file = SealedFile.create(SIZE, SIZE)) {
      for (long size : new long[] {0, PAGE, SIZE - 1, SIZE + PAGE}) {
        assertThatThrownBy(() -> Posix.ftruncate(file.fd(), size, "it"))
            .isInstanceOf(PosixException.class)
            .hasMessageContaining("Operation not permitted");
      }
      assertThat(Posix.fcntl(file.fd(), Posix.F_ADD_SEALS, 0)).isEqualTo(-Errno.EPERM);
    }
  }

  @Test
  void bothSidesSeeWhatTheOtherWrites() {
    try (SealedFile file = SealedFile.create(SIZE, SIZE)) {
      MemorySegment one = file.map(SIZE).view();
      MemorySegment other = file.map(SIZE).view();
      one.set(ValueLayout.JAVA_INT, SIZE - 4, 42);
      assertThat(other.get(ValueLayout.JAVA_INT, SIZE - 4)).isEqualTo(42);
    }
  }

  @Test
  void aHoleThatThePeerPunchesReadsAsZeros() {
    try (SealedFile file = SealedFile.create(SIZE, SIZE)) {
      MemorySegment memory = file.map(SIZE).view().fill((byte) 1);
      int punch = LibC.FALLOC_FL_PUNCH_HOLE() | LibC.FALLOC_FL_KEEP_SIZE();
      assertThat(LibC.fallocate(file.fd(), punch, 0, SIZE)).isZero();
      assertThat(memory.mismatch(Arena.ofAuto().allocate(SIZE))).isEqualTo(-1);
      memory.set(ValueLayout.JAVA_INT, PAGE, 7);
      assertThat(memory.get(ValueLayout.JAVA_INT, PAGE)).isEqualTo(7);
    }
  }

  @Test
  void aFileWhoseSizeIsNotSealedIsNotMapped() {
    assertNotMapped(unsealed("unsealed", Posix.MFD_ALLOW_SEALING, SIZE), "not sealed");
  }

  @Test
  void aFileOfAFileSystemIsNotMapped() {
    Path path = folder.resolve("file");
    int fd = Posix.open(path.toString(), Posix.O_RDWR | Posix.O_CREAT, 0600);
    Posix.ftruncate(fd, SIZE, "it");
    assertNotMapped(new SealedFile(fd), "not sealed");
  }

  @Test
  void aSocketIsNotMapped() {
    assertNotMapped(new SealedFile(Posix.socket(LibC.AF_UNIX(), LibC.SOCK_DGRAM())), "not sealed");
  }

  @Test
  void aFileOfHugePagesWhichMayRunOutIsNotMapped() {
    SealedFile file = unsealed("huge", Posix.MFD_HUGETLB | Posix.MFD_ALLOW_SEALING, 0);
    assertThat(Posix.fcntl(file.fd(), Posix.F_ADD_SEALS, Posix.F_SEAL_SHRINK)).isZero();
    assertNotMapped(file, "not sealed");
  }

  @Test
  void aFileThatIsTooShortIsNotMapped() {
    assertThatThrownBy(() -> SealedFile.create(PAGE, PAGE).map(SIZE))
        .isInstanceOf(PosixException.class)
        .hasMessageContaining(PAGE + " bytes");
  }

  @Test
  void aFileWithHolesThatOthersWouldAllocateIsNotMapped() {
    try (SealedFile file = SealedFile.create(64 << 20, PAGE)) {
      assertThatThrownBy(() -> file.map(SIZE))
          .isInstanceOf(PosixException.class)
          .hasMessageContaining(PAGE + " are allocated");
    }
  }

  @Test
  void aFileThatWouldFillTheAddressSpaceIsNotMapped() {
    try (SealedFile file = SealedFile.create(1L << 43, SIZE)) {
      SealedFile.Limits limits = new SealedFile.Limits(SIZE + PAGE, Long.MAX_VALUE);
      assertThatThrownBy(() -> file.map(limits, SIZE, SIZE))
          .isInstanceOf(PosixException.class)
          .hasMessageContaining("of 8796093022208 bytes, which exceeds the maximum of 20480");
    }
  }

  /** Each file alone is within the limit of a peer's file. */
  @Test
  void filesThatTogetherWouldTakeUpTheAddressSpaceAreNotAllMapped() {
    long size = 1L << 40;
    SealedFile.Limits limits = new SealedFile.Limits(size, 40 * size);
    List<SharedMapping> mappings = new ArrayList<>();
    try (SealedFile file = SealedFile.create(size, SIZE)) {
      assertThatThrownBy(
              () -> {
                while (mappings.size() <= 40) {
                  mappings.add(file.map(limits, SIZE, SIZE));
                }
              })
          .isInstanceOf(PosixException.class)
          .hasMessageContaining("of shared memory; all connections together take ")
          .hasMessageContaining(" of 43980465111040");
      int most = mappings.size();
      assertThat(most).isGreaterThan(32);
      mappings.forEach(SharedMapping::retire);
      mappings.clear(); // they are unmapped when they are unreachable
      while (mappings.isEmpty()) {
        tryToMap(file, limits).ifPresent(mappings::add);
      }
      mappings.forEach(SharedMapping::retire); // other tests need the space
    }
  }

  private Optional<SharedMapping> tryToMap(SealedFile file, SealedFile.Limits limits) {
    try {
      return Optional.of(file.map(limits, SIZE, SIZE));
    } catch (PosixException e) { // the collector has not removed them yet
      assertThat(e.is(Errno.ENOMEM)).isTrue();
      Thread.onSpinWait();
      return Optional.empty();
    }
  }

  /**
   * A peer that seals the file between two calls of mmap(2) in place causes a hole on kernels
   * before 6.12.
   */
  @Test
  void aFileThatThePeerSealsAgainstWritingIsMappedOrNotAndLeavesNoHole() throws Exception {
    try (SealedFile file = unsealed("future", Posix.MFD_ALLOW_SEALING, SIZE)) {
      int fd = file.fd();
      assertThat(LibC.posix_fallocate(fd, 0, SIZE)).isZero();
      assertThat(Posix.fcntl(fd, Posix.F_ADD_SEALS, Posix.F_SEAL_SHRINK)).isZero();
      SharedMapping mapping = file.map(SIZE);
      int futureWrite = 0x10; // F_SEAL_FUTURE_WRITE
      assumeTrue(Posix.fcntl(fd, Posix.F_ADD_SEALS, futureWrite) == 0);
      assertThatThrownBy(() -> file.map(SIZE))
          .isInstanceOfSatisfying(
              PosixException.class,
              e -> {
                assertThat(e).hasMessageContaining("sealed against writing");
                assertThat(e.errno()).isEqualTo(Errno.EINVAL); // EPERM would suggest another user
              });
      mapping.view().fill((byte) 1); // still mapped
      java.lang.ref.Reference.reachabilityFence(mapping);
    }
  }

  @Test
  void unreservedMemoryIsNotAllocatedUntilItIsPopulated() {
    try (SealedFile file = SealedFile.create(SIZE, PAGE)) {
      SharedMapping mapping = file.map(PAGE);
      assertThat(Posix.fstat(file.fd()).allocated()).isEqualTo(PAGE);
      assertThat(mapping.populate(PAGE, SIZE - PAGE)).isZero();
      assertThat(Posix.fstat(file.fd()).allocated()).isEqualTo(SIZE);
    }
  }

  @Test
  void memoryThatIsDiscardedIsFreedAlthoughAPeerHasItMapped() {
    try (SealedFile file = SealedFile.create(SIZE, SIZE)) {
      SharedMapping mapping = file.map(SIZE);
      SharedMapping peers = file.map(SIZE);
      peers.view().fill((byte) 1);
      mapping.discard(PAGE, SIZE - PAGE);
      assertThat(Posix.fstat(file.fd()).allocated()).isEqualTo(PAGE);
      assertThat(peers.view().get(ValueLayout.JAVA_BYTE, PAGE - 1)).isEqualTo((byte) 1);
      assertThat(peers.view().get(ValueLayout.JAVA_BYTE, PAGE)).isZero();
      mapping.retire();
      mapping.discard(0, SIZE); // discards private memory, which has replaced the file
      assertThat(peers.view().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 1);
    }
  }

  @Test
  void retiredMemoryRemainsAccessibleAndThePeersIsNotAccessed() {
    try (SealedFile file = SealedFile.create(SIZE, SIZE)) {
      SharedMapping retired = file.map(SIZE);
      MemorySegment peers = file.map(SIZE).view().fill((byte) 1);
      retired.retire();
      MemorySegment memory = RawMemory.ALL.asSlice(retired.address(), SIZE);
      assertThat(memory.get(ValueLayout.JAVA_BYTE, SIZE - 1)).isZero();
      memory.fill((byte) 2);
      assertThat(peers.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 1);
      java.lang.ref.Reference.reachabilityFence(retired);
    }
  }

  @Test
  void memoryThatCannotBeReplacedStaysMapped() throws Throwable {
    long size = 1L << 36;
    try (SealedFile file = SealedFile.create(size, PAGE)) {
      SharedMapping retired = file.map(PAGE);
      MemorySegment peers = file.map(PAGE).view();
      long before = limitData(dataSize() + (1 << 30)); // much more than this test uses otherwise
      try {
        retired.retire();
      } finally {
        limitData(before);
      }
      MemorySegment memory = RawMemory.ALL.asSlice(retired.address(), size);
      peers.set(ValueLayout.JAVA_INT, size - 4, 42);
      assertThat(memory.get(ValueLayout.JAVA_INT, size - 4)).isEqualTo(42);
      java.lang.ref.Reference.reachabilityFence(retired);
    }
  }

  /** Returns the size of this process's writable private memory. */
  private static long dataSize() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("VmData:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
        .findFirst()
        .orElseThrow();
  }

  /** Sets the limit of that memory; returns the previous limit. */
  private static long limitData(long bytes) throws Throwable {
    int data = 2; // RLIMIT_DATA
    Linker linker = Linker.nativeLinker();
    FunctionDescriptor type =
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
    MethodHandle get = linker.downcallHandle(linker.defaultLookup().findOrThrow("getrlimit"), type);
    MethodHandle set = linker.downcallHandle(linker.defaultLookup().findOrThrow("setrlimit"), type);
    MemorySegment limits = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG, 2); // soft and hard
    assertThat((int) get.invokeExact(data, limits)).isZero();
    long before = limits.getAtIndex(ValueLayout.JAVA_LONG, 0);
    limits.setAtIndex(ValueLayout.JAVA_LONG, 0, bytes);
    assertThat((int) set.invokeExact(data, limits)).isZero();
    return before;
  }

  @Test
  void memoryIsUnmappedWhenItIsUnreachable() throws Exception {
    long before = mappings();
    List<SharedMapping> reachable = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      try (SealedFile file = SealedFile.create(SIZE, SIZE)) {
        reachable.add(file.map(SIZE));
      }
    }
    reachable.clear();
    AtomicLong left = new AtomicLong(mappings());
    long deadline = System.nanoTime() + 90_000_000_000L;
    while (left.get() > before && deadline - System.nanoTime() > 0) {
      System.gc();
      left.set(mappings());
    }
    assertThat(left.get()).as("leak of mappings").isLessThanOrEqualTo(before);
  }

  private static long mappings() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains("memfd:ferrule")).count();
    }
  }
}
