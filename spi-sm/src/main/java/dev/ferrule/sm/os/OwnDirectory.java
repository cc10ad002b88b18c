// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import dev.ferrule.bindings.libc.LibC;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Directories that Ferrule makes: only their owner may enter them, or its group as well ({@link
 * Access}), and they carry a mark. Whatever is to be deleted is deleted in a directory that has
 * that mark and belongs to this user, and only there: a directory that anybody else has made is
 * never emptied, never removed, never taken over.
 */
public final class OwnDirectory {

  /**
   * rwx for the owner; and the sticky bit, which means nothing on such a directory and so serves as
   * the mark.
   */
  private static final int MODE = 01700;

  /** The same, and the group may enter and look. */
  private static final int GROUP_MODE = 01750;

  /** For anybody in the group to make directories in, but not to remove others'. No mark. */
  private static final int COMMON_MODE = 01770;

  private static final List<Integer> MARKED = List.of(MODE, GROUP_MODE);

  private static final int FILE_MODE = 0600;

  /** What a directory gets from one above it that has it, on top of the mode it was made with. */
  private static final int SETGID = 02000;

  private static final int STICKY = 01000;
  private static final int OTHERS_WRITE = 02;

  private static final int ATTEMPTS = 10;
  private static final int PERMISSIONS = 07777;
  private static final int TYPE = 0170000;
  private static final int DIRECTORY = 0040000;

  private OwnDirectory() {}

  /**
   * Makes a directory, for whoever may enter the one above it.
   *
   * @param path the directory
   * @return false if there is something of that name already
   * @throws PosixException if it cannot be made; ENOENT if the directory above it is not there
   */
  public static boolean create(Path path) {
    boolean created = mkdir(path);
    if (created && isOpenToGroup(path.getParent())) {
      setMode(path, GROUP_MODE);
    }
    return created;
  }

  /**
   * Makes a directory.
   *
   * @param path the directory
   * @param openToGroup whether the group may enter the one above it, see {@link #isOpenToGroup}
   * @return false if there is something of that name already
   * @throws PosixException if it cannot be made; ENOENT if the directory above it is not there
   */
  public static boolean create(Path path, boolean openToGroup) {
    boolean created = mkdir(path);
    if (created && openToGroup) {
      setMode(path, GROUP_MODE);
    }
    return created;
  }

  private static boolean mkdir(Path path) {
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
   * Sets who may enter a directory of this user's.
   *
   * @param path a directory made by {@link #create}
   * @param access who may
   * @throws PosixException if it cannot be set
   */
  public static void setAccess(Path path, Access access) {
    if (isOpenToGroup(path) != (access == Access.GROUP)) {
      setMode(path, access == Access.GROUP ? GROUP_MODE : MODE);
    }
  }

  /**
   * Lets the group make directories in one of this user's. It has the mark no more, as people make
   * such directories, too; so it is not removed when it is empty.
   *
   * @param path a directory made by {@link #create}
   * @throws PosixException if it cannot be set
   */
  public static void makeCommon(Path path) {
    setMode(path, COMMON_MODE);
  }

  /**
   * Lets the group use a file if it may enter the file's directory. The mode that a file is made
   * with does not do: the umask takes from it. It is the file that is open whose mode is set, and
   * only if it is this user's and has no other name, as others may have put another in its place.
   *
   * @param fd the file, open in any way
   * @param file what it is called
   * @param type what it has to be, see {@link FileStatus}
   * @param rights what the group may do with it, as in a mode: 040 to read, 020 to write
   * @throws PosixException if it cannot be set
   */
  static void letGroupUse(int fd, Path file, int type, int rights) {
    if (!isOpenToGroup(file.getParent())) {
      return;
    }
    boolean done = false;
    if (Posix.fstat(fd).isOnly(type, LibC.geteuid())) {
      try {
        // fchmod(2) does not take a descriptor that is neither for reading nor for writing
        Files.setAttribute(Path.of("/proc/self/fd/" + fd), "unix:mode", FILE_MODE | rights);
        done = true;
      } catch (IOException e) {
        done = false; // and errno is not told
      }
    }
    if (!done) {
      throw new PosixException("chmod", file.toString(), LibC.EPERM());
    }
  }

  /**
   * Returns whether the group may enter a directory of this user's.
   *
   * @param path the directory
   * @return whether it may
   */
  public static boolean isOpenToGroup(@Nullable Path path) {
    return path != null && isOwn(path) && (mode(path) & PERMISSIONS & ~SETGID) == GROUP_MODE;
  }

  private static int mode(Path path) {
    try {
      return (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
    } catch (IOException e) {
      return 0; // gone meanwhile
    }
  }

  /** Sets permissions, but leaves it to the directory above whose group it is. */
  private static void setMode(Path path, int mode) {
    try {
      Files.setAttribute(
          path, "unix:mode", mode | (mode(path) & SETGID), LinkOption.NOFOLLOW_LINKS);
    } catch (IOException e) {
      boolean there = Files.exists(path, LinkOption.NOFOLLOW_LINKS);
      throw new PosixException("chmod", path.toString(), there ? LibC.EPERM() : LibC.ENOENT());
    }
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
      return (mode & TYPE) == DIRECTORY && MARKED.contains(mode & PERMISSIONS & ~SETGID)
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
   * Returns whose a directory or file is, whether or not Ferrule has made it.
   *
   * @param path the directory or file
   * @return the user id; empty if there is none, or it may not be looked at
   */
  public static Optional<Integer> userOf(Path path) {
    try {
      return Optional.of((int) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * Names a place where only this user can make directories.
   *
   * @return what to do, for an error message
   */
  public static String suggestion() {
    Path runtime = Path.of("/run/user/" + LibC.geteuid());
    String fresh = "a fresh directory of this user's (mkdir -m 700 DIR)";
    return "use "
        + (Files.isWritable(runtime) ? "a directory in " + runtime + ", or " : "")
        + fresh
        + ", on both sides";
  }

  /**
   * Returns whether a directory has no entries.
   *
   * @param path the directory
   * @return whether it is so; false if it may not be read
   */
  public static boolean isEmpty(Path path) {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
      return !entries.iterator().hasNext();
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Returns whether other users may rename and remove what is in a directory: it is writable for
   * all and has no sticky bit.
   *
   * @param path the directory
   * @return whether it is so
   */
  public static boolean isUnprotected(Path path) {
    int mode = mode(path);
    return (mode & TYPE) == DIRECTORY && (mode & OTHERS_WRITE) != 0 && (mode & STICKY) == 0;
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
