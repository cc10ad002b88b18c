// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.Posix;
import dev.ferrule.sm.os.Knem;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * An implementation of the driver within one process, with optional failures. As in the driver, a
 * region consists of the pages that are mapped at its creation.
 */
final class FakeKnem implements Knem {

  private static final int MADV_POPULATE_WRITE = 23; // not among the bindings
  private static final long PAGE = 4096;

  /**
   * A region.
   *
   * @param pages the pages of a region for reading; null for writing: its pages were pinned by a
   *     write fault, so that they are those of the process for as long as it does not fork
   */
  private record Region(long address, long length, @Nullable PinnedPages pages) {
    boolean isWritable() {
      return pages == null;
    }
  }

  private final Map<Long, Region> regions = new ConcurrentHashMap<>();
  private final AtomicLong lastCookie = new AtomicLong(0x1000);
  private final AtomicInteger copies = new AtomicInteger();
  private volatile @Nullable Hold hold;
  private volatile boolean ownerHasEnded;
  private volatile int failure;
  private volatile int copiesUntilFailure = Integer.MAX_VALUE;

  @Override
  public long createRegion(long address, long length, boolean writable) {
    long begin = address / PAGE * PAGE;
    MemorySegment touched = MemorySegment.ofAddress(begin).reinterpret(address + length - begin);
    if (writable && Posix.madvise(touched, MADV_POPULATE_WRITE) != 0) {
      return 0; // a read-only mapping
    }
    long cookie = lastCookie.addAndGet(0x10001);
    PinnedPages pages = writable ? null : new PinnedPages(address, length);
    regions.put(cookie, new Region(address, length, pages));
    return cookie;
  }

  @Override
  public void destroyRegion(long cookie) {
    Region region = regions.remove(cookie);
    if (region != null && region.pages != null) {
      region.pages.close();
    }
    if (region == null && !ownerHasEnded) {
      throw new AssertionError("there is no region " + cookie);
    }
  }

  @Override
  public int copy(
      long cookie,
      long offset,
      MemorySegment memory,
      long localOffset,
      long length,
      boolean write) {
    Hold now = hold;
    if (now != null) {
      now.stay();
    }
    if (copies.incrementAndGet() > copiesUntilFailure) {
      return -failure;
    }
    Region region = regions.get(cookie);
    if (region == null) {
      return -Errno.EINVAL;
    }
    if (write && !region.isWritable()) {
      return -Errno.EACCES;
    }
    long count = Math.min(length, region.length - offset);
    if (region.pages != null) {
      region.pages.read(offset, memory.asSlice(localOffset, count));
      return 0;
    }
    MemorySegment remote = MemorySegment.ofAddress(region.address + offset).reinterpret(count);
    MemorySegment local = memory.asSlice(localOffset, count);
    (write ? remote : local).copyFrom(write ? local : remote);
    return 0;
  }

  /** Keeps copies that begin from now on in the driver. */
  static final class Hold {
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    private void stay() {
      entered.countDown();
      try {
        released.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    /** Waits for a copy. */
    void awaitCopy() throws InterruptedException {
      entered.await();
    }

    void release() {
      released.countDown();
    }
  }

  Hold holdCopies() {
    Hold now = new Hold();
    hold = now;
    return now;
  }

  /** Lets copies fail, after some good ones. */
  void failAfter(int goodCopies, int errno) {
    failure = errno;
    copies.set(0);
    copiesUntilFailure = goodCopies;
  }

  /** Removes all regions, as the driver does when the process that created them ends. */
  void endOwner() {
    ownerHasEnded = true;
    regions.clear();
  }

  int copies() {
    return copies.get();
  }

  int regions() {
    return regions.size();
  }

  long writableRegions() {
    return regions.values().stream().filter(Region::isWritable).count();
  }
}
