// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.FileLock;
import dev.ferrule.posix.FileStatus;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A lock file that shows whether its owner is alive: the kernel releases the lock when the owner's
 * process ends for any reason; see {@link FileLock}. The methods throw a {@link PosixException} if
 * the operating system reports an error.
 */
public final class OwnerLock implements AutoCloseable {

  private static final int MAX_TEXT = 256;

  private final Path path;
  private final int fd;
  private boolean closed;

  private OwnerLock(Path path, int fd) {
    this.path = path;
    this.fd = fd;
  }

  /**
   * Acquires the lock if it is free. Creates the file if it does not exist.
   *
   * @param path the lock file
   * @return the lock, or null if a live owner holds it, or the file was removed concurrently
   * @throws PosixException if the file cannot be created or opened; ENOENT if its directory does
   *     not exist
   */
  public static @Nullable OwnerLock tryAcquire(Path path) {
    int fd = Posix.open(path.toString(), Posix.O_RDWR | Posix.O_CREAT | Posix.O_NOFOLLOW, 0600);
    boolean keep = false;
    try {
      // the former owner may have unlinked the file between open and lock; then this is the lock of
      // a file without a name
      keep = FileLock.tryAcquire(fd, path.toString()) && isSameFile(fd, path);
      return keep ? new OwnerLock(path, fd) : null;
    } finally {
      if (!keep) {
        Posix.close(fd);
      }
    }
  }

  /**
   * Returns whether a lock file has a live owner.
   *
   * @param path the lock file, PATH/PID/ID/lock
   * @return true if it has; false if it has none or there is no such file of the endpoint's user
   * @throws PosixException if that cannot be determined, such as EACCES
   */
  public static boolean isHeld(Path path) {
    int fd = PeerFile.tryOpen(path, PeerFile.OF_ENDPOINT, FileStatus.REGULAR, Posix.O_RDONLY);
    if (fd == -Errno.ENOENT || fd == -Errno.ENOTDIR || fd == -Errno.ELOOP) {
      return false;
    }
    if (fd < 0) {
      throw new PosixException("open", path.toString(), -fd);
    }
    try {
      return FileLock.isHeld(fd, path.toString());
    } finally {
      Posix.close(fd);
    }
  }

  /**
   * Reads the owner's description from a lock file. Never blocks, whatever the type of the file.
   *
   * @param path the lock file, PATH/PID/ID/lock
   * @return the first 256 bytes of the text
   * @throws PosixException if the file cannot be opened, because it was removed, or may not be
   *     read, or is not a regular file of the endpoint's user
   */
  public static String read(Path path) {
    int fd = PeerFile.open(path, PeerFile.OF_ENDPOINT, FileStatus.REGULAR, Posix.O_RDONLY);
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
   * Replaces the owner's description in the lock file, for users and for {@link #read}. Does
   * nothing after the lock was released: the file may then have another owner. A text as long as
   * its predecessor needs no space in the file system, and so cannot fail for lack of it.
   *
   * @param text the new content, no shorter than the one before
   */
  public synchronized void write(String text) {
    if (closed) {
      return;
    }
    // the same file, even if the path names another one by now; a new descriptor writes from its
    // start
    int writer = Posix.open("/proc/self/fd/" + fd, Posix.O_WRONLY, 0);
    try (Arena arena = Arena.ofConfined()) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      long result = Posix.write(writer, arena.allocateFrom(JAVA_BYTE, bytes));
      if (result != bytes.length) {
        throw new PosixException(
            "write", path.toString(), result < 0 ? (int) -result : Errno.ENOSPC);
      }
    } finally {
      Posix.close(writer);
    }
  }

  /** Lets the group query the lock and read the file, if it may enter its directory. */
  public synchronized void letGroupRead() {
    if (!closed) {
      OwnDirectory.letGroupUse(fd, path, FileStatus.REGULAR, 040);
    }
  }

  /**
   * Releases the lock. The file stays; a caller that removes the file does so before it releases
   * the lock. Closing twice has no effect.
   */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      Posix.close(fd);
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
