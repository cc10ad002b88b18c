// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.rma.RmaLayout.LONG;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.os.Knem;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** Copies by the KNEM driver. */
final class KnemCopy implements DirectCopy {

  private final Knem driver;
  private final RmaArea peer;
  private final MemorySegment word;

  KnemCopy(Knem driver, RmaArea peer) {
    this.driver = driver;
    this.peer = peer;
    this.word = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);
  }

  @Override
  public @Nullable Obstacle probe() {
    long cookie = (long) LONG.get(ALL, peer.address() + RmaLayout.DESCRIPTOR_PROBE_COOKIE);
    long wanted = (long) LONG.get(ALL, peer.address() + RmaLayout.DESCRIPTOR_PROBE_VALUE);
    if (cookie == 0) {
      return new Obstacle(
          "the peer does not expose its memory by /dev/knem (set rma=knem on both sides)", false);
    }
    int result = driver.copy(cookie, 0, word, 0, Long.BYTES, false);
    if (result < 0) {
      return new Obstacle(
          PosixException.describe("ioctl(/dev/knem)", -result), result == -Errno.EINVAL);
    }
    return word.get(ValueLayout.JAVA_LONG, 0) == wanted
        ? null
        : new Obstacle("the cookie belongs to another process", false);
  }

  @Override
  public boolean mayHaveLostPeer(int errno) {
    // the driver forgets all cookies of a process when it ends
    return errno == Errno.EINVAL && probe() != null;
  }

  @Override
  public boolean reaches(RemoteRegion region) {
    return region.cookie() != 0;
  }

  @Override
  public long copy(Transfer transfer, long length) {
    int result =
        driver.copy(
            transfer.region().cookie(),
            transfer.remoteOffset(),
            transfer.local(),
            transfer.localOffset(),
            length,
            transfer.isWrite());
    return result < 0 ? result : length;
  }
}
