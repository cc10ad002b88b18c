// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.RawMemory;
import dev.ferrule.verbs.calls.VerbsCalls;
import dev.ferrule.verbs.libibverbs.ibv_comp_channel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.OptionalLong;

/**
 * A completion channel ({@code ibv_comp_channel}). It delivers one event of a completion queue per
 * {@link CompletionQueue#requestNotification request}.
 *
 * <p><b>Threads:</b> one thread at a time takes events.
 */
public final class CompletionChannel implements AutoCloseable {

  private final VerbsCalls calls;
  private final long address;

  CompletionChannel(VerbsCalls calls, long address) {
    this.calls = calls;
    this.address = address;
  }

  long address() {
    return address;
  }

  /** {@return the descriptor that is readable while an event is pending, owned by the channel} */
  public int descriptor() {
    return RawMemory.getInt(address + ibv_comp_channel.fd$offset());
  }

  /**
   * Takes and acknowledges an event. Waits for one if the descriptor is blocking.
   *
   * @return the key of the completion queue; empty if no event is pending and the descriptor is
   *     non-blocking
   * @throws VerbsException if the device is gone
   */
  public OptionalLong nextEvent() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment queue = arena.allocate(ValueLayout.JAVA_LONG);
      MemorySegment key = arena.allocate(ValueLayout.JAVA_LONG);
      int result = calls.getCqEvent(address, queue, key);
      if (result == -Errno.EAGAIN || result == -Errno.EINTR) {
        return OptionalLong.empty();
      }
      VerbsException.check("ibv_get_cq_event", "", result);
      calls.ackCqEvents(queue.get(ValueLayout.JAVA_LONG, 0), 1);
      return OptionalLong.of(key.get(ValueLayout.JAVA_LONG, 0));
    }
  }

  @Override
  public void close() {
    VerbsException.check("ibv_destroy_comp_channel", "", calls.destroyCompChannel(address));
  }
}
