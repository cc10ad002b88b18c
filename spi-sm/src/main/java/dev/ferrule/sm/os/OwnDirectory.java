// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.FileStatus;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Directories created by Ferrule. Their owner may enter them, and with {@link Access#GROUP} their
 * group. They carry a mark. Ferrule deletes files only in a directory that has the mark and belongs
 * to this user. It never empties, removes or reclaims any other directory. The methods throw a
 * {@link PosixException} if the operating system reports an error.
 */
public final class OwnDirectory {

  /**
   * rwx for the owner; and the sticky bit, which has no effect on such a directory and so serves as
   * the mark.
   */
  private static final int MODE = 01700;

  /** As {@link #MODE}, and the group may enter and list. */
  private static final int GROUP_MODE = 01750;

  /** The group may create directories in it, but not remove those of other users. No mark. */
  private static final int COMMON_MODE = 01770;

  private static final List<Integer> MARKED = List.of(MODE, GROUP_MODE);

  private static final int FILE_MODE = 0600;

  /**
   * A new directory inherits this bit from its parent, in addition to the mode it is created with.
   */
  private static final int SETGID = 02000;

  private static final int STICKY = 01000;
  private static final int OTHERS_WRITE = 02;

  private static final int ATTEMPTS = 10;
  private static final int PERMISSIONS = 07777;
  private static final int TYPE = 0170000;
  private static final int DIRECTORY = 0040000;

  private OwnDirectory() {}

  /**
   * Creates a directory, accessible to the users that may enter its parent.
   *
   * @param path the directory
   * @return false if the name exists
   * @throws PosixException if it cannot be created; ENOENT if its parent does not exist
   */
  public static boolean create(Path path) {
    return create(path, isOpenToGroup(path.getParent()));
  }

  /**
   * Creates a directory.
   *
   * @param path the directory
   * @param openToGroup whether the group may enter its parent, see {@link #isOpenToGroup}
   * @return false if the name exists
   * @throws PosixException if it cannot be created; ENOENT if its parent does not exist
   */
  public static boolean create(Path path, boolean openToGroup) {
    int result = Posix.mkdir(path.toString(), MODE);
    if (result < 0 && result != -Errno.EEXIST) {
      throw new PosixException("mkdir", path.toString(), -result);
    }
    if (result == 0 && openToGroup) {
      setMode(path, GROUP_MODE);
    }
    return result == 0;
  }

  /**
   * Creates a directory unless it exists; an existing one must be this user's own.
   *
   * @param path the directory
   * @throws PosixException EEXIST if the name exists and is not this user's; ENOENT if its parent
   *     does not exist, or it was removed concurrently
   */
  public static void createOrReuse(Path path) {
    // other processes may remove and create it between any two checks
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (create(path) || isOwn(path)) {
        return;
      }
    }
    boolean there = Files.exists(path, LinkOption.NOFOLLOW_LINKS);
    throw new PosixException("mkdir", path.toString(), there ? Errno.EEXIST : Errno.ENOENT);
  }

  /**
   * Sets the users that may enter a directory of this user's.
   *
   * @param path a directory created by {@link #create}
   * @param access the users
   */
  public static void setAccess(Path path, Access access) {
    if (isOpenToGroup(path) != (access == Access.GROUP)) {
      setMode(path, access == Access.GROUP ? GROUP_MODE : MODE);
    }
  }

  /**
   * Permits the group to create directories in one of this user's. The directory loses the mark,
   * because users create directories of this mode, too; it is therefore not removed when it is
   * empty.
   *
   * @param path a directory created by {@link #create}
   */
  public static void makeCommon(Path path) {
    setMode(path, COMMON_MODE);
  }

  /**
   * Lets the group use a file if it may enter the file's directory. The mode of a file's creation
   * does not suffice, because the umask is applied to it. The mode is set on the open file, and
   * only if this user owns it and it has a single link, because another user may have replaced it.
   *
   * @param fd the file, open in any mode
   * @param file its name
   * @param type its expected type, see {@link FileStatus}
   * @param rights the rights of the group, as in a mode: 040 to read, 020 to write
   */
  public static void letGroupUse(int fd, Path file, int type, int rights) {
    if (!isOpenToGroup(file.getParent())) {
      return;
    }
    boolean done = false;
    if (Posix.fstat(fd).isOnly(type, Posix.geteuid())) {
      try {
        // fchmod(2) does not accept a descriptor that is neither readable nor writable
        Files.setAttribute(Path.of("/proc/self/fd/" + fd), "unix:mode", FILE_MODE | rights);
        done = true;
      } catch (IOException e) {
        done = false; // errno is not reported
      }
    }
    if (!done) {
      throw new PosixException("chmod", file.toString(), Errno.EPERM);
    }
  }

  /**
   * {@return whether the group may enter a directory of this user's}
   *
   * @param path the directory
   */
  public static boolean isOpenToGroup(@Nullable Path path) {
    return path != null && isOwn(path) && (mode(path) & PERMISSIONS & ~SETGID) == GROUP_MODE;
  }

  private static int mode(Path path) {
    try {
      return (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
    } catch (IOException e) {
      return 0; // removed meanwhile
    }
  }

  /** Sets permissions, and keeps the setgid bit inherited from the parent. */
  private static void setMode(Path path, int mode) {
    try {
      Files.setAttribute(
          path, "unix:mode", mode | (mode(path) & SETGID), LinkOption.NOFOLLOW_LINKS);
    } catch (IOException e) {
      boolean there = Files.exists(path, LinkOption.NOFOLLOW_LINKS);
      throw new PosixException("chmod", path.toString(), there ? Errno.EPERM : Errno.ENOENT);
    }
  }

  /**
   * Returns the user that created a directory by {@link #create}.
   *
   * @param path the directory; a symbolic link is not followed
   * @return the user id; empty if Ferrule did not create it, or it does not exist
   */
  public static Optional<Integer> owner(Path path) {
    try {
      Map<String, Object> attributes =
          Files.readAttributes(path, "unix:mode,uid", LinkOption.NOFOLLOW_LINKS);
      int mode = (int) Objects.requireNonNull(attributes.get("mode"));
      return (mode & TYPE) == DIRECTORY && MARKED.contains(mode & PERMISSIONS & ~SETGID)
          ? Optional.of((int) Objects.requireNonNull(attributes.get("uid")))
          : Optional.empty();
    } catch (IOException e) {
      // it does not exist, or is in a directory that this user may not enter
      return Optional.empty();
    }
  }

  /**
   * {@return whether this user created a directory by {@link #create}}
   *
   * @param path the directory; a symbolic link is not followed
   */
  public static boolean isOwn(Path path) {
    return owner(path).filter(uid -> uid == Posix.geteuid()).isPresent();
  }

  /**
   * Returns the owner of a directory or file, whether or not Ferrule created it.
   *
   * @param path the directory or file
   * @return the user id; empty if it does not exist, or cannot be read
   */
  public static Optional<Integer> userOf(Path path) {
    try {
      return Optional.of((int) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * {@return what to do, for an error message: a place where only this user can create directories}
   */
  public static String suggestion() {
    Path runtime = Path.of("/run/user/" + Posix.geteuid());
    return "use %sa new directory of this user (mkdir -m 700 DIR), on both sides"
        .formatted(Files.isWritable(runtime) ? "a directory in " + runtime + ", or " : "");
  }

  /**
   * {@return whether a directory has no entries; false if it may not be read}
   *
   * @param path the directory
   */
  public static boolean isEmpty(Path path) {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
      return !entries.iterator().hasNext();
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * {@return whether other users may rename and remove a directory's entries: it is writable by all
   * users and has no sticky bit}
   *
   * @param path the directory
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
      return false; // not empty, or another user's; an empty directory is harmless
    }
  }
}
