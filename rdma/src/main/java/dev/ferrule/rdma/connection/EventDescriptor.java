// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.support.ReadinessDescriptor;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.calls.EventCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;

/** A descriptor of eventfd(2) that is readable or not. One thread at a time uses it. */
final class EventDescriptor implements ReadinessDescriptor.Event {

  private final Arena arena = Arena.ofAuto();
  private final MemorySegment one = arena.allocateFrom(ValueLayout.JAVA_LONG, 1);
  private final MemorySegment counter = arena.allocate(ValueLayout.JAVA_LONG);
  private final int number;

  private EventDescriptor(int number) {
    this.number = number;
  }

  static EventDescriptor open(URI uri) {
    try {
      int flags = LibC.EFD_CLOEXEC() | LibC.EFD_NONBLOCK();
      return new EventDescriptor(
          (int) VerbsException.check("eventfd", "readiness", EventCalls.eventfd(0, flags)));
    } catch (VerbsException e) {
      throw RdmaFailures.of(uri, e);
    }
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public void setReadable(boolean value) {
    if (value) {
      LibC.write(number, one, Long.BYTES);
    } else {
      LibC.read(number, counter, Long.BYTES);
    }
  }

  @Override
  public void close() {
    LibC.close(number);
  }
}
