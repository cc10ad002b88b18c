// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import dev.ferrule.bindings.libc.LibC;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Directories that Ferrule makes: only their owner may enter them, and they carry a mark. Whatever
 * is to be deleted is deleted in a directory that has that mark and belongs to this user, and only
 * there: a directory that anybody else has made is never emptied, never removed, never taken over.
 */
public final class OwnDirectory {

  /**
   * rwx for the owner; and the sticky bit, which means nothing on such a directory and so serves as
   * the mark.
   */
  private static final int MODE = 01700;

  /** What a directory gets from one above it that has it, on top of the mode it was made with. */
  private static final int SETGID = 02000;

  private static final int ATTEMPTS = 10;
  private static final int PERMISSIONS = 07777;
  private static final int TYPE = 0170000;
  private static final int DIRECTORY = 0040000;

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
   * Makes a directory if it is not there; the one that is there has to be this user's own.
   *
   * @param path the directory
   * @throws PosixException EEXIST if there is something of that name that is not; ENOENT if the
   *     directory above it is not there, or what was there was removed just now
   */
  public static void createOrReuse(Path path) {
    // others may remove and make it anew between any two looks
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (create(path) || isOwn(path)) {
        return;
      }
    }
    boolean there = Files.exists(path, LinkOption.NOFOLLOW_LINKS);
    throw new PosixException("mkdir", path.toString(), there ? LibC.EEXIST() : LibC.ENOENT());
  }

  /**
   * Returns who made a directory by {@link #create}, whatever user that was.
   *
   * @param path the directory; a symbolic link is none
   * @return the user id; empty if Ferrule did not make it, or there is none
   */
  public static Optional<Integer> owner(Path path) {
    try {
      Map<String, Object> attributes =
          Files.readAttributes(path, "unix:mode,uid", LinkOption.NOFOLLOW_LINKS);
      int mode = (int) attributes.get("mode");
      return (mode & TYPE) == DIRECTORY && (mode & PERMISSIONS & ~SETGID) == MODE
          ? Optional.of((int) attributes.get("uid"))
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty(); // not there, or in a directory that this user may not enter
    }
  }

  /**
   * Tells whether this user made a directory by {@link #create}.
   *
   * @param path the directory; a symbolic link is none
   * @return whether it is so
   */
  public static boolean isOwn(Path path) {
    return owner(path).filter(uid -> uid == LibC.geteuid()).isPresent();
  }

  /**
   * Removes a directory if it is this user's, carries the mark and is empty.
   *
   * @param path the directory
   * @return whether it was removed
   */
  public static boolean removeIfEmpty(Path path) {
    try {
      return isOwn(path) && Files.deleteIfExists(path);
    } catch (IOException e) {
      return false; // not empty, or not ours to remove; an empty directory harms nobody
    }
  }
}
