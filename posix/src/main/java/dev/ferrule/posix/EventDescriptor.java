// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A descriptor of eventfd(2) that is readable or not. One thread at a time uses it. */
public final class EventDescriptor implements AutoCloseable {

  private final Arena arena = Arena.ofAuto();
  private final MemorySegment one = arena.allocateFrom(ValueLayout.JAVA_LONG, 1);
  private final MemorySegment counter = arena.allocate(ValueLayout.JAVA_LONG);
  private final int fd = Posix.eventfd();

  /**
   * Opens a descriptor that is not readable.
   *
   * @throws PosixException EMFILE or ENFILE if there are too many
   */
  public EventDescriptor() {}

  /** {@return the descriptor's number} */
  public int number() {
    return fd;
  }

  /**
   * Makes the descriptor readable, or not readable. Called only to change it. Does not block.
   *
   * @param value whether it is to be readable
   */
  public void setReadable(boolean value) {
    if (value) {
      Posix.write(fd, one);
    } else {
      Posix.read(fd, counter);
    }
  }

  @Override
  public void close() {
    Posix.close(fd);
  }
}
