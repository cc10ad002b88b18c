// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.FileStatus;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import java.nio.file.Path;

/**
 * Opens files that another process has put below PATH. A process that may connect may be hostile.
 * It can put anything into its own endpoint: links to files that this user may write and that
 * process may not, or a link in place of a directory.
 *
 * <p>The path is therefore opened name by name, none of which may be a symbolic link. The
 * directories and the file must have the same owner, the endpoint's user; that user can then
 * contribute only its own files. PATH itself may have any owner, and lie behind links. The file's
 * link count is ignored: a user that may write the file could create another link to it elsewhere.
 *
 * <p>openat2(2), which would take one call, is not used: kernels before 5.6 lack it, sandboxes
 * refuse it, and the owners of the directories would have to be checked all the same.
 */
public final class PeerFile {

  /** Number of names below PATH to a file of an endpoint: PID, ID, and its own. */
  public static final int OF_ENDPOINT = 3;

  private PeerFile() {}

  /**
   * Opens a file.
   *
   * @param path the file
   * @param names the number of the path's last names that are below PATH
   * @param type its expected type, see {@link FileStatus}
   * @param flags as for open(2)
   * @return its descriptor
   * @throws PosixException if that is not possible; ELOOP if it is not of that type and of the
   *     endpoint's user, ENOTDIR if a link or a file is in place of a directory
   */
  public static int open(Path path, int names, int type, int flags) {
    int fd = tryOpen(path, names, type, flags);
    if (fd < 0) {
      String subject =
          fd == -Errno.ELOOP
              ? path + ", which is not a file of the expected type owned by its endpoint's user"
              : "" + path;
      throw new PosixException("open", subject, -fd);
    }
    return fd;
  }

  /** As open, but returns -errno. */
  static int tryOpen(Path path, int names, int type, int flags) {
    int count = path.getNameCount();
    String base = count == names ? "/" : "/" + path.subpath(0, count - names);
    int directory = Posix.tryOpen(base, Posix.O_PATH | Posix.O_DIRECTORY, 0);
    try {
      int user = -1;
      for (int i = count - names; i < count - 1 && directory >= 0; i++) {
        int above = directory;
        directory = Posix.tryOpenAt(above, name(path, i), Posix.O_PATH | Posix.O_DIRECTORY);
        Posix.close(above);
        if (directory >= 0) {
          int owner = Posix.fstat(directory).uid();
          if (i > count - names && owner != user) {
            return -Errno.ELOOP;
          }
          user = owner;
        }
      }
      return directory < 0
          ? directory
          : openIn(directory, name(path, count - 1), type, flags, user);
    } finally {
      if (directory >= 0) {
        Posix.close(directory);
      }
    }
  }

  private static String name(Path path, int index) {
    return path.getName(index).toString();
  }

  private static int openIn(int directory, String name, int type, int flags, int user) {
    // without waiting for the other end of a pipe
    int fd = Posix.tryOpenAt(directory, name, flags | Posix.O_NONBLOCK);
    if (fd < 0) {
      return fd;
    }
    if (Posix.fstat(fd).isOf(type, user)) {
      return fd;
    }
    Posix.close(fd);
    return -Errno.ELOOP;
  }
}
