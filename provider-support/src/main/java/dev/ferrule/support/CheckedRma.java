// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.ExposedMemory;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteMemory;
import dev.ferrule.Rma;
import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

/** Remote memory access that detects concurrent use by two threads. */
final class CheckedRma implements Rma {

  private final Rma rma;
  private final SingleThreadedUse use;

  CheckedRma(Rma rma, SingleThreadedUse use) {
    this.rma = rma;
    this.use = use;
  }

  /** Any thread may call this. */
  @Override
  public ExposedMemory expose(MemorySegment memory, RmaRight... rights) {
    return rma.expose(memory, rights);
  }

  /** Any thread may call this. */
  @Override
  public ExposedMemory allocate(long size, RmaRight... rights) {
    return rma.allocate(size, rights);
  }

  /** Any thread may call this. */
  @Override
  public RemoteMemory attach(RmaHandle handle) {
    return rma.attach(handle);
  }

  /** Any thread may call this. */
  @Override
  public long write(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length) {
    use.begin();
    try {
      return rma.write(local, localOffset, remote, remoteOffset, length);
    } finally {
      use.end();
    }
  }

  @Override
  public long read(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length) {
    use.begin();
    try {
      return rma.read(local, localOffset, remote, remoteOffset, length);
    } finally {
      use.end();
    }
  }

  @Override
  public long fetchAndAdd(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long addend) {
    use.begin();
    try {
      return rma.fetchAndAdd(local, localOffset, remote, remoteOffset, addend);
    } finally {
      use.end();
    }
  }

  @Override
  public long compareAndSwap(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long expected,
      long desired) {
    use.begin();
    try {
      return rma.compareAndSwap(local, localOffset, remote, remoteOffset, expected, desired);
    } finally {
      use.end();
    }
  }

  @Override
  public long write(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length,
      Duration timeout) {
    use.begin();
    try {
      return rma.write(local, localOffset, remote, remoteOffset, length, timeout);
    } finally {
      use.end();
    }
  }

  @Override
  public long tryWrite(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length) {
    use.begin();
    try {
      return rma.tryWrite(local, localOffset, remote, remoteOffset, length);
    } finally {
      use.end();
    }
  }

  @Override
  public long read(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length,
      Duration timeout) {
    use.begin();
    try {
      return rma.read(local, localOffset, remote, remoteOffset, length, timeout);
    } finally {
      use.end();
    }
  }

  @Override
  public long tryRead(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length) {
    use.begin();
    try {
      return rma.tryRead(local, localOffset, remote, remoteOffset, length);
    } finally {
      use.end();
    }
  }

  @Override
  public long fetchAndAdd(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long addend,
      Duration timeout) {
    use.begin();
    try {
      return rma.fetchAndAdd(local, localOffset, remote, remoteOffset, addend, timeout);
    } finally {
      use.end();
    }
  }

  @Override
  public long tryFetchAndAdd(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long addend) {
    use.begin();
    try {
      return rma.tryFetchAndAdd(local, localOffset, remote, remoteOffset, addend);
    } finally {
      use.end();
    }
  }

  @Override
  public long compareAndSwap(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long expected,
      long desired,
      Duration timeout) {
    use.begin();
    try {
      return rma.compareAndSwap(
          local, localOffset, remote, remoteOffset, expected, desired, timeout);
    } finally {
      use.end();
    }
  }

  @Override
  public long tryCompareAndSwap(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long expected,
      long desired) {
    use.begin();
    try {
      return rma.tryCompareAndSwap(local, localOffset, remote, remoteOffset, expected, desired);
    } finally {
      use.end();
    }
  }

  @Override
  public long writeAndSend(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length,
      MemorySegment message) {
    use.begin();
    try {
      return rma.writeAndSend(local, localOffset, remote, remoteOffset, length, message);
    } finally {
      use.end();
    }
  }

  @Override
  public void fence() {
    use.begin();
    try {
      rma.fence();
    } finally {
      use.end();
    }
  }

  @Override
  public boolean isComplete(long id) {
    use.begin();
    try {
      return rma.isComplete(id);
    } finally {
      use.end();
    }
  }

  @Override
  public void await(long id) {
    use.begin();
    try {
      rma.await(id);
    } finally {
      use.end();
    }
  }

  @Override
  public void await(long id, Duration timeout) {
    use.begin();
    try {
      rma.await(id, timeout);
    } finally {
      use.end();
    }
  }

  @Override
  public String toString() {
    return rma.toString();
  }
}
