// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

/**
 * The status of an open file, even if its path names another file by now: fstat(2).
 *
 * @param mode its type and permissions
 * @param uid its owner
 * @param links its number of links; 0 when it was deleted
 * @param size its size in bytes
 * @param allocated the space allocated for it, in bytes
 */
public record FileStatus(int mode, int uid, long links, long size, long allocated) {

  private static final int TYPE = 0170000;

  /** File type: regular file. */
  public static final int REGULAR = 0100000;

  /** File type: named pipe. */
  public static final int FIFO = 0010000;

  /** File type: socket. */
  public static final int SOCKET = 0140000;

  /**
   * Returns whether the file has a type and an owner.
   *
   * @param type the type, such as {@link #REGULAR}
   * @param user the owner
   * @return whether it has both
   */
  public boolean isOf(int type, int user) {
    return (mode & TYPE) == type && uid == user;
  }

  /**
   * Returns whether the file has a type, an owner and a single link: it was not linked here from
   * elsewhere.
   *
   * @param type the type, such as {@link #REGULAR}
   * @param user the owner
   * @return whether it has all three
   */
  public boolean isOnly(int type, int user) {
    return isOf(type, user) && links == 1;
  }
}
