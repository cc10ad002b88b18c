// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeFunctionTest {
  private static final int F_DUPFD = 0;

  private static NativeFunction function(String name) {
    return NativeLibrary.C.function(name);
  }

  @Test
  void statusIsTheResultOrTheErrnoOfAFailure(@TempDir Path folder) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = arena.allocateFrom(folder.resolve("new").toString());
      assertThat(function("rmdir").status(path)).isEqualTo(-Errno.ENOENT);
      assertThat(function("mkdir").status(path, 0700)).isZero();
      assertThat(function("rmdir").status(path)).isZero();
    }
    assertThat(function("close").status(-1)).isEqualTo(-Errno.EBADF);
  }

  @Test
  void longStatusIsTheWholeResultOrTheErrnoOfAFailure(@TempDir Path folder) throws Exception {
    long beyondInt = 1L << 40;
    int read = 0;
    Path file = Files.createFile(folder.resolve("file"));
    try (Arena arena = Arena.ofConfined()) {
      int fd = function("open").status(arena.allocateFrom(file.toString()), read);
      assertThat(fd).isPositive();
      assertThat(function("lseek").longStatus(fd, beyondInt, 0)).isEqualTo(beyondInt);
      assertThat(function("lseek").longStatus(fd, -1L, 0)).isEqualTo(-Errno.EINVAL);
      assertThat(function("close").status(fd)).isZero();
    }
  }

  @Test
  void pointerIsTheAddressOrTheErrnoOfAFailure() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment missing = arena.allocateFrom("/missing/file");
      assertThat(function("realpath").pointer(missing, 0)).isEqualTo(-Errno.ENOENT);
      long path = function("realpath").pointer(arena.allocateFrom("/"), 0);
      assertThat(MemorySegment.ofAddress(path).reinterpret(2).getString(0)).isEqualTo("/");
      function("free").plain(path);
    }
  }

  @Test
  void errorIsNegativeAlthoughTheFunctionReturnsItPositive() {
    assertThat(function("posix_fallocate").error(-1, 0, 1)).isEqualTo(-Errno.EBADF);
  }

  @Test
  void aFunctionWithVariableArgumentsIsCalledLikeOthers() {
    int copy = function("fcntl").status(0, F_DUPFD, 100);
    assertThat(copy).isGreaterThanOrEqualTo(100);
    assertThat(function("close").status(copy)).isZero();
  }

  @Test
  void sixArgumentsArriveInTheirOrder() {
    int protection = 3;
    int sharedWithNoFile = 0x21;
    long address = function("mmap").longStatus(0, 8192L, protection, sharedWithNoFile, -1, 0L);
    assertThat(address).isPositive();
    MemorySegment memory = MemorySegment.ofAddress(address).reinterpret(8192);
    memory.set(JAVA_LONG, 8184, 7);
    assertThat(memory.get(JAVA_LONG, 8184)).isEqualTo(7);
    assertThat(function("munmap").status(address, 8192L)).isZero();
    assertThat(function("mmap").longStatus(0, 8192L, protection, sharedWithNoFile, -1, 1L))
        .as("the last argument is no multiple of a page")
        .isEqualTo(-Errno.EINVAL);
  }

  @Test
  void twoSegmentsAreRead() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment target = arena.allocate(8);
      MemorySegment source = arena.allocateFrom("ferrule", StandardCharsets.US_ASCII);
      assertThat(function("memcpy").pointer(target, source, 8L)).isEqualTo(target.address());
      assertThat(target.getString(0)).isEqualTo("ferrule");
    }
  }

  @Test
  void aSegmentThatIsClosedIsRefused() {
    Arena arena = Arena.ofConfined();
    MemorySegment closed = arena.allocate(8);
    arena.close();
    NativeFunction memset = function("memset");
    assertThatIllegalStateException().isThrownBy(() -> memset.pointer(closed, 0, 8L));
    assertThatIllegalStateException()
        .as("one that is only kept")
        .isThrownBy(() -> function("getpid").status(0, 0, 0, 0, 0, 0, closed));
  }

  @Test
  void invalidArgumentsAreRefused() {
    NativeFunction getpid = function("getpid");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> getpid.status(1, 2, 3, 4, 5, 6, 7))
        .withMessage("more than 6 arguments");
    MemorySegment none = MemorySegment.NULL;
    assertThatIllegalArgumentException()
        .isThrownBy(() -> getpid.status(none, none, none))
        .withMessage("more than 2 segments");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> getpid.status((byte) 1))
        .withMessageContaining("not of class java.lang.Byte");
    MemorySegment onHeap = MemorySegment.ofArray(new byte[1]);
    assertThatIllegalArgumentException().isThrownBy(() -> getpid.status(onHeap));
  }

  @Test
  void aMissingLibraryOrFunctionIsNamed() {
    assertThatExceptionOfType(UnsatisfiedLinkError.class)
        .isThrownBy(() -> NativeLibrary.load("libmissing.so.1"))
        .withMessage(
            "the library libmissing.so.1 cannot be loaded; install it, or add its folder to LD_LIBRARY_PATH");
    assertThatExceptionOfType(UnsatisfiedLinkError.class)
        .isThrownBy(() -> NativeLibrary.C.function("missing_function"))
        .withMessage("the library has no function missing_function; install a later version");
  }
}
