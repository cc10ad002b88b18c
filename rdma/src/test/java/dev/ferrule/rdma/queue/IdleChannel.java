// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.verbs.CompletionQueue;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A fake channel that ignores all receives. */
public class IdleChannel extends Channel {

  public IdleChannel(Parts parts, SendProtocol protocol, int capacity) {
    super(parts, protocol, new MessageQueue(capacity), MemorySegment.NULL);
  }

  @Override
  protected @Nullable String received(CompletionQueue completions, int index) {
    return null;
  }

  @Override
  protected void dropped(int receive) {}

  @Override
  public long offset(int message) {
    return 0;
  }

  @Override
  protected void freed(int message) {}

  @Override
  protected void releaseHeldBackSpace() {}

  @Override
  public boolean isExhausted(int held) {
    return false;
  }

  @Override
  protected void stopReceives() {}
}
