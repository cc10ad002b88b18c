// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import dev.ferrule.bindings.libc.LibC;
import java.nio.file.Path;

/**
 * Opens what another process has put below PATH. Who may connect may be hostile, and has an
 * endpoint of its own to put there what it likes: links to files that this user may write and it
 * may not, or in place of a directory a link to one.
 *
 * <p>So one name after the other is opened, none of which may be a symbolic link; and the
 * directories and the file have to be of one user, the endpoint's, who can then bring nothing in
 * but what is its own. PATH itself may be anybody's, and lie behind links. How many names the file
 * has does not matter, and must not: whoever may write it could give it another one elsewhere.
 *
 * <p>Why not by openat2(2), in one call: kernels before 5.6 do not have it, sandboxes refuse it,
 * and whose the directories are would have to be looked at all the same.
 */
final class PeerFile {

  /** How many names there are below PATH to what is an endpoint's: PID, ID, and its own. */
  static final int OF_ENDPOINT = 3;

  /** The same for what is a connection's: PID, ID, conns, its number, and its own. */
  static final int OF_CONNECTION = 5;

  private PeerFile() {}

  /**
   * Opens a file.
   *
   * @param path the file
   * @param names how many of the path's last names are below PATH
   * @param type what it has to be, see {@link FileStatus}
   * @param flags as for open(2)
   * @return its descriptor
   * @throws PosixException if that is not possible; ELOOP if it is not of that type and of the
   *     endpoint's user, ENOTDIR if a link or a file is in place of a directory
   */
  static int open(Path path, int names, int type, int flags) {
    int fd = tryOpen(path, names, type, flags);
    if (fd < 0) {
      String subject =
          fd == -LibC.ELOOP()
              ? path + ", which is not what its endpoint's user has to have there"
              : "" + path;
      throw new PosixException("open", subject, -fd);
    }
    return fd;
  }

  /** Like open, but returns -errno. */
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
            return -LibC.ELOOP();
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
    // without waiting for somebody at the other end of a pipe
    int fd = Posix.tryOpenAt(directory, name, flags | LibC.O_NONBLOCK());
    if (fd < 0) {
      return fd;
    }
    if (Posix.fstat(fd).isOf(type, user)) {
      return fd;
    }
    Posix.close(fd);
    return -LibC.ELOOP();
  }
}
