// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import java.util.List;

/** Checks how much memory may be pinned for an RDMA device. */
final class LockedMemoryCheck implements Check {

  private static final String NAME = "locked memory";
  private static final long UNLIMITED = -1;
  private static final long ENOUGH_BYTES = 64L << 20;

  @Override
  public List<Finding> run() {
    try {
      return List.of(judge(Posix.getrlimit(Posix.RLIMIT_MEMLOCK)));
    } catch (PosixException e) {
      return List.of(Finding.warn(NAME, "getrlimit(RLIMIT_MEMLOCK) failed", ""));
    }
  }

  private static Finding judge(long bytes) {
    if (bytes == UNLIMITED) {
      return Finding.ok(NAME, "unlimited");
    }
    if (Long.compareUnsigned(bytes, ENOUGH_BYTES) >= 0) {
      return Finding.ok(
          NAME,
          "up to " + (bytes >> 20) + " MiB, for the buffers of RDMA connections (sm needs none)");
    }
    return Finding.warn(
        NAME,
        "only up to "
            + (bytes >> 10)
            + " KiB; RDMA connections pin their buffers and need more (sm needs none)",
        "ulimit -l unlimited; permanently: '* - memlock unlimited' in /etc/security/limits.conf,"
            + " systemd LimitMEMLOCK=infinity, docker run --ulimit memlock=-1");
  }
}
