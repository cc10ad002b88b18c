// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

/**
 * What the kernel says of a file that is open: of that very file, whatever goes by its name by now.
 *
 * @param mode its type and permissions
 * @param uid whose it is
 * @param links how many names it has; 0 when it was deleted
 * @param size its size in bytes
 * @param allocated how much room it has in its file system, in bytes
 */
record FileStatus(int mode, int uid, long links, long size, long allocated) {

  private static final int TYPE = 0170000;

  /** A type: a regular file. */
  static final int REGULAR = 0100000;

  /** A type: a named pipe. */
  static final int FIFO = 0010000;

  /** A type: a socket. */
  static final int SOCKET = 0140000;

  private static final int OTHERS_WRITE = 022;

  /** Whether it is a file of a type and a user. */
  boolean isOf(int type, int user) {
    return (mode & TYPE) == type && uid == user;
  }

  /** Whether it is that, and has one name: it was not linked here from elsewhere. */
  boolean isOnly(int type, int user) {
    return isOf(type, user) && links == 1;
  }

  /** Whether it is a user's, and nobody else may write to it. */
  boolean isPrivateOf(int user) {
    return uid == user && (mode & OTHERS_WRITE) == 0;
  }

  /** Whether there is room for all of it, so that using it takes none. */
  boolean isBacked() {
    return allocated >= size;
  }
}
