// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.os.Knem;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** What the driver does, within one process; with failures when they are asked for. */
final class FakeKnem implements Knem {

  private record Region(long address, long length, boolean writable) {}

  private final Map<Long, Region> regions = new ConcurrentHashMap<>();
  private final AtomicLong lastCookie = new AtomicLong(0x1000);
  private final AtomicInteger copies = new AtomicInteger();
  private volatile @Nullable Hold hold;
  private volatile int failure;
  private volatile int copiesUntilFailure = Integer.MAX_VALUE;

  @Override
  public long createRegion(long address, long length, boolean writable) {
    long cookie = lastCookie.addAndGet(0x10001);
    regions.put(cookie, new Region(address, length, writable));
    return cookie;
  }

  @Override
  public void destroyRegion(long cookie) {
    if (regions.remove(cookie) == null) {
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
      return -LibC.EINVAL();
    }
    if (write && !region.writable) {
      return -LibC.EACCES();
    }
    long count = Math.min(length, region.length - offset);
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

  /** Lets copies fail, from some later one on. */
  void failAfter(int goodCopies, int errno) {
    failure = errno;
    copies.set(0);
    copiesUntilFailure = goodCopies;
  }

  int copies() {
    return copies.get();
  }

  int regions() {
    return regions.size();
  }
}
