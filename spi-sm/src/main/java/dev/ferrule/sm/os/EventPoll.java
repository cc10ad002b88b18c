// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import dev.ferrule.bindings.libc.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Waits for any of several descriptors, by epoll(7). One thread waits; any thread may add, remove
 * and wake.
 */
public final class EventPoll implements AutoCloseable {

  private static final int MAX_EVENTS = 64;
  private static final long WAKE_KEY = -1;

  // struct epoll_event is packed on x86-64 only, so the generated layout does not fit other
  // machines
  private static final boolean PACKED = System.getProperty("os.arch").equals("amd64");
  private static final long EVENT_SIZE = PACKED ? 12 : 16;
  private static final long DATA_OFFSET = PACKED ? 4 : 8;

  private final Arena arena = Arena.ofAuto();
  private final MemorySegment events = arena.allocate(MAX_EVENTS * EVENT_SIZE, 8);
  private final MemorySegment counter = arena.allocate(8, 8);
  private final int epoll = Posix.epollCreate();
  private final MemorySegment one = arena.allocateFrom(ValueLayout.JAVA_LONG, 1);
  private final WriteDescriptor wakeup;
  private boolean closed;

  /** Makes a poll that waits for nothing yet. */
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
   * Waits for a descriptor to have something to read.
   *
   * @param fd the descriptor
   * @param key what {@link #key} returns for it; not negative
   */
  public void addReadable(int fd, long key) {
    control(LibC.EPOLL_CTL_ADD(), fd, LibC.EPOLLIN(), key);
  }

  /**
   * Waits for a pipe's reader to go away, which epoll reports as an error on the writing end.
   *
   * @param fd the pipe's writing end
   * @param key what {@link #key} returns for it; not negative
   */
  public void addBroken(int fd, long key) {
    control(LibC.EPOLL_CTL_ADD(), fd, 0, key);
  }

  /**
   * Waits for room in a pipe as well, or no more.
   *
   * @param fd the pipe's writing end, which was added by {@link #addBroken}
   * @param key the same as then
   * @param room whether to wait for that
   */
  public void setRoomWanted(int fd, long key, boolean room) {
    control(LibC.EPOLL_CTL_MOD(), fd, room ? LibC.EPOLLOUT() : 0, key);
  }

  /**
   * Waits for a descriptor no more. To be called before it is closed.
   *
   * @param fd the descriptor
   */
  public void remove(int fd) {
    control(LibC.EPOLL_CTL_DEL(), fd, 0, 0);
  }

  private synchronized void control(int operation, int fd, int mask, long key) {
    if (closed) {
      return;
    }
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment event = scratch.allocate(EVENT_SIZE, 8);
      event.set(ValueLayout.JAVA_INT, 0, mask);
      event.set(ValueLayout.JAVA_LONG_UNALIGNED, DATA_OFFSET, key);
      Posix.epollCtl(epoll, operation, fd, event);
    }
  }

  /**
   * Waits.
   *
   * @param timeoutMs how long at most, in milliseconds; -1 is for ever
   * @return how many descriptors have something; 0 after the timeout or a {@link #wake}
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
   * Returns whose event it is.
   *
   * @param index the event's position, from 0
   * @return the key the descriptor was added with; negative if it was only a {@link #wake}
   */
  public long key(int index) {
    return events.get(ValueLayout.JAVA_LONG_UNALIGNED, index * EVENT_SIZE + DATA_OFFSET);
  }

  /**
   * Tells whether the reader of a pipe is gone, and there is not only room in it.
   *
   * @param index the event's position, from 0
   * @return whether it is
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

  /** Gives up the descriptors. To be called by the thread that waits. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      Posix.close(epoll);
      wakeup.close();
    }
  }
}
