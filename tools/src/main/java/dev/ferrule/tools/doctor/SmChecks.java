// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.posix.FileSystemStatus;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import dev.ferrule.tools.support.ChildProcess;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Checks what the transport over shared memory needs, or can use. */
final class SmChecks {

  private static final String SHARED_MEMORY = "shared memory";
  private static final Path DIRECTORY = Path.of("/dev/shm");
  private static final long LITTLE_FREE_BYTES = 1 << 20;
  private static final long FEW_FILES = 100;

  private static final String CMA = "CMA";
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final Path YAMA = Path.of("/proc/sys/kernel/yama/ptrace_scope");
  private static final Path STATUS = Path.of("/proc/self/status");

  private static final String KNEM = "KNEM";
  private static final Path KNEM_DEVICE = Path.of("/dev/knem");
  private static final long GET_INFO = 0x40104b10L;
  private static final int INFO_BYTES = 16;
  private static final int ABI = 0xd;

  private SmChecks() {}

  /** Checks that endpoints can be created. Their memory is anonymous, and in no file system. */
  static Finding sharedMemory() {
    if (!Files.isDirectory(DIRECTORY)) {
      return Finding.warn(
          SHARED_MEMORY,
          DIRECTORY + " does not exist",
          "use another directory in sm:///DIRECTORY, on any file system");
    }
    if (!Files.isWritable(DIRECTORY)) {
      return Finding.warn(SHARED_MEMORY, DIRECTORY + " is not writable", "chmod 1777 " + DIRECTORY);
    }
    try {
      return judge(Posix.statfs(DIRECTORY.toString()));
    } catch (PosixException e) {
      return Finding.warn(SHARED_MEMORY, "statfs of " + DIRECTORY + " failed", "");
    }
  }

  private static Finding judge(FileSystemStatus found) {
    return found.free() < LITTLE_FREE_BYTES || found.freeFiles() < FEW_FILES
        ? Finding.warn(
            SHARED_MEMORY,
            "the file system of " + DIRECTORY + " is almost full; endpoints need a few files in it",
            "remove unneeded files from "
                + DIRECTORY
                + ", or use another directory in sm:///DIRECTORY")
        : Finding.ok(SHARED_MEMORY, DIRECTORY + " has room for endpoints");
  }

  /**
   * Checks whether one process may read another's memory (cross memory attach). A child process
   * reads the memory of this process, which needs the same permission as between unrelated
   * processes. The reverse would prove nothing, since a parent may always trace its children.
   */
  static Finding crossMemoryAttach() {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment word = arena.allocate(ValueLayout.JAVA_LONG);
      long secret = ThreadLocalRandom.current().nextLong();
      word.set(ValueLayout.JAVA_LONG, 0, secret);
      String answer = askChild(word.address());
      return answer.equals(CmaProbe.success(secret))
          ? Finding.ok(CMA, "one process can read another's memory (process_vm_readv)")
          : Finding.warn(
              CMA, "process_vm_readv failed: " + answer + "; messages do not need it", fix(answer));
    } catch (ToolException e) {
      return Finding.warn(CMA, "unknown: " + e.getMessage(), "");
    }
  }

  private static String askChild(long address) {
    List<String> arguments =
        List.of(Long.toString(ProcessHandle.current().pid()), Long.toString(address));
    try (ChildProcess child = ChildProcess.start(CmaProbe.class.getName(), arguments, line -> {})) {
      return child.awaitAnswer(TIMEOUT);
    }
  }

  private static String fix(String answer) {
    if (answer.contains("ENOSYS")) {
      return "use a kernel with CONFIG_CROSS_MEMORY_ATTACH";
    }
    String scope = read(YAMA).strip();
    if (scope.matches("[1-3]")) {
      return "sysctl kernel.yama.ptrace_scope=0 (now " + scope + "), or the capability SYS_PTRACE";
    }
    return read(STATUS).lines().anyMatch(line -> line.matches("Seccomp:\\s+2"))
        ? "docker run --cap-add=SYS_PTRACE (without it the seccomp profile forbids the call), and"
            + " --pid=container:NAME between containers"
        : "run both processes as the same user, or give the reading one the capability SYS_PTRACE";
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return "";
    }
  }

  /** Checks the KNEM driver, an optional mechanism that copies between processes. */
  static Finding knem() {
    if (!Files.exists(KNEM_DEVICE)) {
      return Finding.warn(
          KNEM,
          KNEM_DEVICE + " does not exist; messages do not need it",
          "only for rma=knem: build and load the KNEM module");
    }
    int descriptor = Posix.tryOpen(KNEM_DEVICE.toString(), Posix.O_RDWR, 0);
    if (descriptor < 0) {
      return Finding.warn(KNEM, KNEM_DEVICE + " cannot be opened", "chmod a+rw " + KNEM_DEVICE);
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = arena.allocate(INFO_BYTES, Integer.BYTES);
      if (Posix.ioctl(descriptor, GET_INFO, info) != 0) {
        return Finding.warn(
            KNEM,
            KNEM_DEVICE + " is not a device of KNEM: its ioctl failed",
            "reload the KNEM module");
      }
      int abi = info.get(ValueLayout.JAVA_INT, 0);
      return abi == ABI
          ? Finding.ok(
              KNEM, KNEM_DEVICE + " with ABI " + abi + "; used with rma=knem on both sides")
          : Finding.warn(
              KNEM,
              KNEM_DEVICE + " has ABI " + abi + ", but " + ABI + " is needed",
              "load a KNEM module of version 1.1 or later");
    } finally {
      Posix.close(descriptor);
    }
  }
}
