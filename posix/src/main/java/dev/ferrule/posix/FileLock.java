// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import dev.ferrule.posix.libc.LibC;
import dev.ferrule.posix.libc.flock;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Open file description locks of whole files: fcntl(2), F_OFD_SETLK. Unlike a POSIX lock, such a
 * lock also works between two descriptors of one process, and it is not lost when unrelated code of
 * the process closes the same file. It works across PID namespaces, where process ids have no
 * meaning. The kernel releases it with the last descriptor of the open file: at close(2), or when
 * the process ends for any reason.
 */
public final class FileLock {

  private static final long SIZE = flock.sizeof();

  private FileLock() {}

  /**
   * Acquires the write lock of a file if it is free. Does not wait.
   *
   * @param fd the file, open for writing
   * @param subject its name, for the exception
   * @return whether it was acquired; false if another open file description has a lock
   * @throws PosixException if that fails for another reason
   */
  public static boolean tryAcquire(int fd, String subject) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment lock = wholeFile(arena, LibC.F_WRLCK());
      int result = Posix.fcntl(fd, LibC.F_OFD_SETLK(), lock);
      if (result < 0 && result != -Errno.EAGAIN && result != -Errno.EACCES) {
        throw new PosixException("fcntl(F_OFD_SETLK)", subject, -result);
      }
      return result == 0;
    }
  }

  /**
   * Returns whether another open file description has the write lock of a file. Read locks, for
   * which the permission to read the file suffices, are ignored.
   *
   * @param fd the file, open for reading
   * @param subject its name, for the exception
   * @return whether it is locked
   * @throws PosixException if that cannot be determined
   */
  public static boolean isHeld(int fd, String subject) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment lock = wholeFile(arena, LibC.F_RDLCK()); // conflicts with a write lock only
      int result = Posix.fcntl(fd, LibC.F_OFD_GETLK(), lock);
      if (result < 0) {
        throw new PosixException("fcntl(F_OFD_GETLK)", subject, -result);
      }
      return flock.l_type(lock) != LibC.F_UNLCK();
    }
  }

  /** Zeros mean the whole file; l_pid must be 0 for open file description locks. */
  private static MemorySegment wholeFile(Arena arena, int type) {
    MemorySegment lock = arena.allocate(SIZE);
    flock.l_type(lock, (short) type);
    return lock;
  }
}
