// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A sender that detects concurrent use by two threads. */
final class CheckedSender implements Sender {

  private final Sender sender;
  private final SingleThreadedUse use;

  CheckedSender(Sender sender, SingleThreadedUse use) {
    this.sender = sender;
    this.use = use;
  }

  /** Immutable, so any thread may call this. */
  @Override
  public int maxMessage() {
    return sender.maxMessage();
  }

  @Override
  public SendRegion claim(int length) {
    use.begin();
    try {
      return sender.claim(length);
    } finally {
      use.end();
    }
  }

  @Override
  public SendRegion claim(int length, Duration timeout) {
    use.begin();
    try {
      return sender.claim(length, timeout);
    } finally {
      use.end();
    }
  }

  @Override
  public @Nullable SendRegion tryClaim(int length) {
    use.begin();
    try {
      return sender.tryClaim(length);
    } finally {
      use.end();
    }
  }

  @Override
  public long send(MemorySegment source, long offset, long length) {
    use.begin();
    try {
      return sender.send(source, offset, length);
    } finally {
      use.end();
    }
  }

  @Override
  public long send(MemorySegment source, long offset, long length, Duration timeout) {
    use.begin();
    try {
      return sender.send(source, offset, length, timeout);
    } finally {
      use.end();
    }
  }

  @Override
  public long trySend(MemorySegment source, long offset, long length) {
    use.begin();
    try {
      return sender.trySend(source, offset, length);
    } finally {
      use.end();
    }
  }

  @Override
  public long sendRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length) {
    use.begin();
    try {
      return sender.sendRegistered(header, payload, offset, length);
    } finally {
      use.end();
    }
  }

  @Override
  public long sendRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length, Duration timeout) {
    use.begin();
    try {
      return sender.sendRegistered(header, payload, offset, length, timeout);
    } finally {
      use.end();
    }
  }

  @Override
  public long trySendRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length) {
    use.begin();
    try {
      return sender.trySendRegistered(header, payload, offset, length);
    } finally {
      use.end();
    }
  }

  @Override
  public long stage(MemorySegment source, long offset, long length) {
    use.begin();
    try {
      return sender.stage(source, offset, length);
    } finally {
      use.end();
    }
  }

  @Override
  public long stage(MemorySegment source, long offset, long length, Duration timeout) {
    use.begin();
    try {
      return sender.stage(source, offset, length, timeout);
    } finally {
      use.end();
    }
  }

  @Override
  public long tryStage(MemorySegment source, long offset, long length) {
    use.begin();
    try {
      return sender.tryStage(source, offset, length);
    } finally {
      use.end();
    }
  }

  @Override
  public long stageRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length) {
    use.begin();
    try {
      return sender.stageRegistered(header, payload, offset, length);
    } finally {
      use.end();
    }
  }

  @Override
  public long stageRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length, Duration timeout) {
    use.begin();
    try {
      return sender.stageRegistered(header, payload, offset, length, timeout);
    } finally {
      use.end();
    }
  }

  @Override
  public long tryStageRegistered(
      MemorySegment header, RegisteredMemory payload, long offset, int length) {
    use.begin();
    try {
      return sender.tryStageRegistered(header, payload, offset, length);
    } finally {
      use.end();
    }
  }

  @Override
  public int staged() {
    use.begin();
    try {
      return sender.staged();
    } finally {
      use.end();
    }
  }

  @Override
  public void flush() {
    use.begin();
    try {
      sender.flush();
    } finally {
      use.end();
    }
  }

  @Override
  public boolean isComplete(long id) {
    use.begin();
    try {
      return sender.isComplete(id);
    } finally {
      use.end();
    }
  }

  @Override
  public void await(long id) {
    use.begin();
    try {
      sender.await(id);
    } finally {
      use.end();
    }
  }

  @Override
  public void await(long id, Duration timeout) {
    use.begin();
    try {
      sender.await(id, timeout);
    } finally {
      use.end();
    }
  }

  @Override
  public void close() {
    use.begin();
    try {
      sender.close();
    } finally {
      use.end();
    }
  }

  @Override
  public String toString() {
    return sender.toString();
  }
}
