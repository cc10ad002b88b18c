// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import dev.ferrule.posix.Mappings;
import dev.ferrule.sm.os.Knem;

/**
 * Creates KNEM regions whose pages are those that this process continues to use.
 *
 * <p>The driver pins the pages that are mapped when a region is created. A region for reading is
 * pinned by a read fault, and such a fault maps pages that a write of this process replaces: the
 * zero page for anonymous memory that was not written to, the page cache for a private mapping of a
 * file, a page shared with a child since a fork. The region would keep the old page, and the peer
 * would read stale bytes without an error.
 */
final class KnemRegions {

  private KnemRegions() {}

  /**
   * Creates a region of at least one byte. Returns its cookie; 0 if the driver cannot pin it, or it
   * is a private read-only mapping, whose pages may be replaced once it becomes writable.
   */
  static long create(Knem driver, long address, long length, boolean writable) {
    // The driver pins a region for writing by a write fault, which ends copy-on-write.
    long written = driver.createRegion(address, length, true);
    if (writable) {
      return written;
    }
    if (written == 0) {
      return Mappings.areShared(address, length) ? driver.createRegion(address, length, false) : 0;
    }
    // The pages stay while that region pins them. The peer gets another one, by which the driver
    // does not let it write.
    try {
      return driver.createRegion(address, length, false);
    } finally {
      driver.destroyRegion(written);
    }
  }
}
