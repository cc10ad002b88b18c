// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static dev.ferrule.sm.os.RawMemory.ALL;
import static dev.ferrule.sm.rma.RmaLayout.INT;
import static dev.ferrule.sm.rma.RmaLayout.LONG;

import dev.ferrule.spi.RmaKey;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * What the peer exposes, and the word by which this side keeps the peer from taking a region back
 * while it copies: it stores the region's number, and only then looks whether the region is still
 * exposed; the peer ends the exposure, and only then looks at the number.
 *
 * <p><b>Threads:</b> any thread looks up; one at a time uses regions.
 */
public final class RemoteTable {

  private final long own; // the address
  private final long peer; // the address

  /**
   * Begins with no region in use.
   *
   * @param own this side's area
   * @param peer the peer's
   */
  public RemoteTable(RmaArea own, RmaArea peer) {
    this.own = own.address();
    this.peer = peer.address();
  }

  /**
   * Looks a region up.
   *
   * @param key what its handle says
   * @return the region; null if the peer does not expose it
   */
  public @Nullable RemoteRegion find(RmaKey key) {
    if (key.id() >= RmaLayout.MAX_REGIONS || key.generation() == 0 || key.key() != 0) {
      return null;
    }
    long entry = RmaLayout.region(key.id());
    if ((long) LONG.getAcquire(ALL, peer + entry + RmaLayout.REGION_GENERATION)
        != key.generation()) {
      return null;
    }
    long address = (long) LONG.get(ALL, peer + entry + RmaLayout.REGION_ADDRESS);
    long length = (long) LONG.get(ALL, peer + entry + RmaLayout.REGION_LENGTH);
    int rights = (int) INT.get(ALL, peer + entry + RmaLayout.REGION_RIGHTS);
    long cookie = (long) LONG.get(ALL, peer + entry + RmaLayout.REGION_COOKIE);
    VarHandle.loadLoadFence(); // what was read belongs together if the region is still the same
    return isExposed(key.id(), key.generation())
            && length == key.length()
            && rights == RmaKey.bits(key.rights())
        ? new RemoteRegion(key, this, address, cookie)
        : null;
  }

  private boolean isExposed(int id, long generation) {
    return (long) LONG.getVolatile(ALL, peer + RmaLayout.region(id) + RmaLayout.REGION_GENERATION)
        == generation;
  }

  /**
   * Keeps a region from being taken back, until {@link #release}.
   *
   * @param region the region
   * @return false if it is no longer exposed; then there is nothing to release
   */
  public boolean acquire(RemoteRegion region) {
    LONG.setVolatile(ALL, own + RmaLayout.IN_USE, (long) region.id() + 1);
    if (isExposed(region.id(), region.generation())) {
      return true;
    }
    release();
    return false;
  }

  /** The region may be taken back. */
  public void release() {
    LONG.setRelease(ALL, own + RmaLayout.IN_USE, 0L);
  }
}
