// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import dev.ferrule.bindings.libc.LibC;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/**
 * Directories that Ferrule makes: only their owner may enter them, and they carry a mark, so that
 * whoever empties one may remove it without ever removing a directory that somebody else has made.
 */
public final class OwnDirectory {

  /**
   * rwx for the owner; and the sticky bit, which means nothing on such a directory and so serves as
   * the mark.
   */
  private static final int MODE = 01700;

  /** What a directory gets from one above it that has it, on top of the mode it was made with. */
  private static final int SETGID = 02000;

  private OwnDirectory() {}

  /**
   * Makes a directory.
   *
   * @param path the directory
   * @return false if there is something of that name already
   * @throws PosixException if it cannot be made; ENOENT if the directory above it is not there
   */
  public static boolean create(Path path) {
    int result = Posix.mkdir(path.toString(), MODE);
    if (result < 0 && result != -LibC.EEXIST()) {
      throw new PosixException("mkdir", path.toString(), -result);
    }
    return result == 0;
  }

  /**
   * Removes a directory if it is empty and carries the mark.
   *
   * @param path the directory
   * @return whether it was removed
   */
  public static boolean removeIfEmpty(Path path) {
    try {
      int mode = (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
      return (mode & ~SETGID & 07777) == MODE && Files.deleteIfExists(path);
    } catch (IOException e) {
      return false; // not empty, not there, or not ours to remove; an empty directory harms nobody
    }
  }
}
