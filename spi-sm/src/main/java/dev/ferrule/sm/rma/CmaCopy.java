// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.rma.RmaLayout.LONG;

import dev.ferrule.posix.CrossMemory;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.PosixException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** Copies by cross-memory attach. */
final class CmaCopy implements DirectCopy {

  private static final String CONTAINERS =
      ", as in containers without a common PID namespace (docker run --pid=container:NAME) or, with"
          + " some engines, the capability SYS_PTRACE";

  private final CrossMemory memory;
  private final RmaArea peer;
  private final MemorySegment word;

  CmaCopy(RmaArea peer) {
    this.peer = peer;
    // not the process id written by the peer, which may be that of a third process
    this.memory = new CrossMemory(peer.maker().pid(), Arena.ofAuto());
    this.word = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);
  }

  @Override
  public @Nullable Obstacle probe() {
    if (peer.maker().pid() == 0) {
      return new Obstacle("the peer's process is not in this PID namespace" + CONTAINERS, false);
    }
    long address = (long) LONG.get(ALL, peer.address() + RmaLayout.DESCRIPTOR_PROBE);
    long wanted = (long) LONG.get(ALL, peer.address() + RmaLayout.DESCRIPTOR_PROBE_VALUE);
    long result = memory.read(word, 0, address, Long.BYTES);
    if (result == Long.BYTES && word.get(ValueLayout.JAVA_LONG, 0) == wanted) {
      return null;
    }
    if (result < 0 && result != -Errno.EFAULT) {
      return new Obstacle(
          PosixException.describe("process_vm_readv", (int) -result) + CONTAINERS,
          result == -Errno.ESRCH);
    }
    // such as this process itself: in containers, each may be process 1
    return new Obstacle(
        "another process has the peer's process id in this PID namespace" + CONTAINERS, false);
  }

  @Override
  public boolean mayHaveLostPeer(int errno) {
    // EFAULT too: the kernel may release the memory of a killed process before the process ends
    return errno == Errno.ESRCH || errno == Errno.EFAULT && probe() != null;
  }

  @Override
  public boolean reaches(RemoteRegion region) {
    return true;
  }

  @Override
  public long copy(Transfer transfer, long length) {
    long remote = transfer.region().address() + transfer.remoteOffset();
    return transfer.isWrite()
        ? memory.write(transfer.local(), transfer.localOffset(), remote, length)
        : memory.read(transfer.local(), transfer.localOffset(), remote, length);
  }
}
