// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

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

/**
 * Checks whether one process may read another's memory (cross memory attach). A child process reads
 * this one, which needs the same permission as between unrelated processes; a parent may always
 * trace its children.
 */
final class CrossMemoryAttachCheck implements Check {

  private static final String NAME = "CMA";
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final Path YAMA = Path.of("/proc/sys/kernel/yama/ptrace_scope");
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String CONSEQUENCE = "; messages do not need it";

  @Override
  public List<Finding> run() {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment word = arena.allocate(ValueLayout.JAVA_LONG);
      long secret = ThreadLocalRandom.current().nextLong();
      word.set(ValueLayout.JAVA_LONG, 0, secret);
      String answer = askChild(word.address());
      if (answer.equals(CmaProbe.success(secret))) {
        return List.of(
            Finding.ok(NAME, "one process can read another's memory (process_vm_readv)"));
      }
      return List.of(
          Finding.warn(NAME, "process_vm_readv failed: " + answer + CONSEQUENCE, fix(answer)));
    } catch (ToolException e) {
      return List.of(Finding.warn(NAME, "unknown: " + e.getMessage(), ""));
    }
  }

  private static String askChild(long address) {
    List<String> arguments =
        List.of("cma-probe", Long.toString(ProcessHandle.current().pid()), Long.toString(address));
    try (ChildProcess child = ChildProcess.start(arguments, line -> {})) {
      return child.awaitAnswer(TIMEOUT);
    }
  }

  private static String fix(String answer) {
    if (answer.contains("ENOSYS")) {
      return "use a kernel with CONFIG_CROSS_MEMORY_ATTACH";
    }
    if (read(YAMA).strip().matches("[1-3]")) {
      return "sysctl kernel.yama.ptrace_scope=0 (now "
          + read(YAMA).strip()
          + "), or the capability SYS_PTRACE";
    }
    return read(STATUS).lines().anyMatch(line -> line.matches("Seccomp:\\s+2"))
        ? "docker run --cap-add=SYS_PTRACE (its seccomp profile refuses otherwise), and"
            + " --pid=container:NAME between containers"
        : "run both processes as the same user, or give this one the capability SYS_PTRACE";
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return "";
    }
  }
}
