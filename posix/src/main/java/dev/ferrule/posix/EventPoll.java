// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import dev.ferrule.posix.libc.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Waits for any of several descriptors, by epoll(7).
 *
 * <p><b>Threads:</b> one thread waits and reads the events; any thread may add, remove and wake.
 */
public class EventPoll implements AutoCloseable {

  private static final int MAX_EVENTS = 64;
  private static final long WAKE_KEY = -1;

  private static final long EVENT_SIZE = Abi.CURRENT.eventSize();
  private static final long DATA_OFFSET = Abi.CURRENT.eventData();

  private final Arena arena = Arena.ofAuto();
  private final MemorySegment events = arena.allocate(MAX_EVENTS * EVENT_SIZE, 8);
  private final MemorySegment counter = arena.allocate(8, 8);
  private final int epoll = Posix.epollCreate();
  private final MemorySegment one = arena.allocateFrom(ValueLayout.JAVA_LONG, 1);
  private final WriteDescriptor wakeup;
  private boolean closed;

  /**
   * Creates a poll without descriptors.
   *
   * @throws PosixException EMFILE or ENFILE if there are too many descriptors
   */
  public EventPoll() {
    try {
      wakeup = new WriteDescriptor(Posix.eventfd());
    } catch (PosixException e) {
      Posix.close(epoll);
      throw e;
    }
    boolean done = false;
    try {
      control(LibC.EPOLL_CTL_ADD(), wakeup.fd(), LibC.EPOLLIN(), WAKE_KEY);
      done = true;
    } finally {
      if (!done) {
        close();
      }
    }
  }

  /**
   * Adds a descriptor, to be reported when it is readable.
   *
   * @param fd the descriptor
   * @param key what {@link #key} returns for it; not negative
   * @throws PosixException if that fails, such as ENOSPC at the limit of watches of a user
   */
  public void addReadable(int fd, long key) {
    control(LibC.EPOLL_CTL_ADD(), fd, LibC.EPOLLIN(), key);
  }

  /**
   * Adds the writing end of a pipe, to be reported when its reader is gone: epoll signals an error.
   *
   * @param fd the pipe's writing end
   * @param key what {@link #key} returns for it; not negative
   */
  public void addBroken(int fd, long key) {
    control(LibC.EPOLL_CTL_ADD(), fd, 0, key);
  }

  /**
   * Sets whether a pipe is also reported when it has room.
   *
   * @param fd the pipe's writing end, added by {@link #addBroken}
   * @param key the key that it was added with
   * @param room whether to report room
   */
  public void setRoomWanted(int fd, long key, boolean room) {
    control(LibC.EPOLL_CTL_MOD(), fd, room ? LibC.EPOLLOUT() : 0, key);
  }

  /**
   * Removes a descriptor. Must be called before it is closed. Errors are ignored: the close of its
   * last duplicate removes it, too.
   *
   * @param fd the descriptor
   */
  public void remove(int fd) {
    int ignored = tryControl(LibC.EPOLL_CTL_DEL(), fd, 0, 0);
  }

  private void control(int operation, int fd, int mask, long key) {
    int result = tryControl(operation, fd, mask, key);
    if (result < 0) {
      throw new PosixException("epoll_ctl", "fd " + fd, -result);
    }
  }

  private synchronized int tryControl(int operation, int fd, int mask, long key) {
    if (closed) {
      return 0;
    }
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment event = scratch.allocate(EVENT_SIZE, 8);
      event.set(ValueLayout.JAVA_INT, 0, mask);
      event.set(ValueLayout.JAVA_LONG_UNALIGNED, DATA_OFFSET, key);
      return Posix.epollCtl(epoll, operation, fd, event);
    }
  }

  /**
   * Waits for events.
   *
   * @param timeoutMs the timeout in milliseconds; -1 means forever
   * @return the number of events, including one with a negative key for a {@link #wake}; 0 after
   *     the timeout or a signal
   */
  public int await(int timeoutMs) {
    int count = Posix.epollWait(epoll, events, MAX_EVENTS, timeoutMs);
    for (int i = 0; i < count; i++) {
      if (key(i) == WAKE_KEY) {
        Posix.read(wakeup.fd(), counter);
      }
    }
    return Math.max(count, 0);
  }

  /**
   * Returns the key of an event's descriptor.
   *
   * @param index the event's position, from 0
   * @return the key that the descriptor was added with; negative for a {@link #wake}
   */
  public long key(int index) {
    return events.get(ValueLayout.JAVA_LONG_UNALIGNED, index * EVENT_SIZE + DATA_OFFSET);
  }

  /**
   * Returns whether an event reports that its descriptor is readable, and not only that it has
   * failed.
   *
   * @param index the event's position, from 0
   * @return whether it is readable
   */
  public boolean isReadable(int index) {
    return (events.get(ValueLayout.JAVA_INT, index * EVENT_SIZE) & LibC.EPOLLIN()) != 0;
  }

  /**
   * Returns whether an event reports that a pipe's reader is gone, and not only room in the pipe.
   *
   * @param index the event's position, from 0
   * @return whether the reader is gone
   */
  public boolean isBroken(int index) {
    return (events.get(ValueLayout.JAVA_INT, index * EVENT_SIZE)
            & (LibC.EPOLLERR() | LibC.EPOLLHUP()))
        != 0;
  }

  /** Makes {@link #await} return. Takes no lock, and allocates nothing. */
  public void wake() {
    wakeup.write(one);
  }

  /**
   * Closes the poll's own descriptors. Must be called by the thread that waits, or after it has
   * ended. Methods that change descriptors do nothing afterwards.
   */
  @Override
  public final synchronized void close() {
    if (!closed) {
      closed = true;
      Posix.close(epoll);
      wakeup.close();
    }
  }
}
