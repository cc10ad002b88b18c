// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import dev.ferrule.support.ReadinessDescriptor;
import dev.ferrule.verbs.VerbsException;
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
      return new EventDescriptor(Posix.eventfd());
    } catch (PosixException e) {
      throw RdmaFailures.of(uri, new VerbsException(e.function(), e.subject(), e.errno()));
    }
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public void setReadable(boolean value) {
    if (value) {
      Posix.write(number, one);
    } else {
      Posix.read(number, counter);
    }
  }

  @Override
  public void close() {
    Posix.close(number);
  }
}
