// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.bindings.libc.flock;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A lock file that tells whether its owner lives: the kernel drops the lock when the owner's
 * process ends, however it ends.
 *
 * <p>It is an open file description lock (fcntl(2), F_OFD_SETLK): unlike POSIX locks it also works
 * between endpoints of one process and is not lost when some other code of the process closes the
 * same file; and it works across PID namespaces, where process ids mean nothing.
 */
public final class OwnerLock implements AutoCloseable {

  private static final long LOCK_SIZE = flock.sizeof();
  private static final int MAX_TEXT = 256;

  private final Path path;
  private final int fd;
  private boolean closed;

  private OwnerLock(Path path, int fd) {
    this.path = path;
    this.fd = fd;
  }

  /**
   * Becomes the owner if nobody is. The file is created if it is not there.
   *
   * @param path the lock file
   * @return the lock, or null if a live owner holds it, or the file went away meanwhile
   * @throws PosixException if the file cannot be created or opened; ENOENT if its directory is not
   *     there
   */
  public static @Nullable OwnerLock tryAcquire(Path path) {
    int fd = Posix.open(path.toString(), LibC.O_RDWR() | LibC.O_CREAT() | Posix.O_NOFOLLOW, 0600);
    boolean keep = false;
    try {
      int result = lock(fd, LibC.F_OFD_SETLK(), LibC.F_WRLCK(), null);
      if (result < 0 && result != -LibC.EAGAIN() && result != -LibC.EACCES()) {
        throw new PosixException("fcntl(F_OFD_SETLK)", path.toString(), -result);
      }
      // the former owner may have unlinked the file between our open and our lock; then we hold the
      // lock of a file without a name
      keep = result == 0 && isSameFile(fd, path);
      return keep ? new OwnerLock(path, fd) : null;
    } finally {
      if (!keep) {
        Posix.close(fd);
      }
    }
  }

  /**
   * Tells whether a lock file has a live owner.
   *
   * @param path the lock file, PATH/PID/ID/lock
   * @return true if it has; false if it has none or there is no such file of the endpoint's user
   * @throws PosixException if it cannot be told, such as EACCES
   */
  public static boolean isHeld(Path path) {
    int fd = PeerFile.tryOpen(path, PeerFile.OF_ENDPOINT, FileStatus.REGULAR, LibC.O_RDONLY());
    if (fd == -LibC.ENOENT() || fd == -LibC.ENOTDIR() || fd == -LibC.ELOOP()) {
      return false;
    }
    if (fd < 0) {
      throw new PosixException("open", path.toString(), -fd);
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment lock = arena.allocate(LOCK_SIZE);
      // would a read lock be possible? So only a write lock is told, which takes the right to write
      // to the file: anybody who may read it can take a read lock
      int result = lock(fd, LibC.F_OFD_GETLK(), LibC.F_RDLCK(), lock);
      if (result < 0) {
        throw new PosixException("fcntl(F_OFD_GETLK)", path.toString(), -result);
      }
      return flock.l_type(lock) != LibC.F_UNLCK();
    } finally {
      Posix.close(fd);
    }
  }

  /**
   * Reads what a lock file says about its owner. Never waits, whatever goes by that name.
   *
   * @param path the lock file, PATH/PID/ID/lock
   * @return the text, no more than 256 bytes of it
   * @throws PosixException if the file cannot be opened, because it is gone, or may not be read, or
   *     is not a regular file of the endpoint's user
   */
  public static String read(Path path) {
    int fd = PeerFile.open(path, PeerFile.OF_ENDPOINT, FileStatus.REGULAR, LibC.O_RDONLY());
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = arena.allocate(MAX_TEXT);
      long length = Posix.read(fd, text);
      return new String(
          text.asSlice(0, Math.max(0, length)).toArray(JAVA_BYTE), StandardCharsets.UTF_8);
    } finally {
      Posix.close(fd);
    }
  }

  /**
   * Replaces what the lock file says about its owner, for people and for {@link #read}. Does
   * nothing when the lock was given up: then the file is somebody else's. A text as long as the one
   * before needs no room in the file system, and so cannot fail for want of it.
   *
   * @param text the new content, no shorter than the one before
   * @throws PosixException if the file cannot be written
   */
  public synchronized void write(String text) {
    if (closed) {
      return;
    }
    // the same file, whatever goes by its name by now; opened anew, which starts at the beginning
    int writer = Posix.open("/proc/self/fd/" + fd, LibC.O_WRONLY(), 0);
    try (Arena arena = Arena.ofConfined()) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      long result = Posix.write(writer, arena.allocateFrom(JAVA_BYTE, bytes));
      if (result != bytes.length) {
        throw new PosixException(
            "write", path.toString(), result < 0 ? (int) -result : LibC.ENOSPC());
      }
    } finally {
      Posix.close(writer);
    }
  }

  /**
   * Lets the group look whether the lock is held, and read what the file says, if it may enter its
   * directory.
   *
   * @throws PosixException if that cannot be set
   */
  public synchronized void letGroupRead() {
    if (!closed) {
      OwnDirectory.letGroupUse(fd, path, FileStatus.REGULAR, 040);
    }
  }

  /**
   * Gives up the lock. The file stays; whoever wants it gone removes it before. Closing twice does
   * nothing.
   */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      Posix.close(fd);
    }
  }

  private static int lock(int fd, int command, int type, @Nullable MemorySegment into) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment lock = into == null ? arena.allocate(LOCK_SIZE) : into;
      lock.fill((byte) 0); // whole file; l_pid has to be 0 for open file description locks
      flock.l_type(lock, (short) type);
      return Posix.fcntl(fd, command, lock);
    }
  }

  private static boolean isSameFile(int fd, Path path) {
    try {
      return Files.isSameFile(Path.of("/proc/self/fd/" + fd), path);
    } catch (IOException e) {
      return false;
    }
  }
}
