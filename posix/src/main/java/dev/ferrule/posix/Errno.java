// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

/**
 * The error numbers of Linux that Ferrule uses, which are the same on x86-64 and aarch64. They are
 * constants, not methods of the generated bindings, so that they can be cases of a {@code switch}.
 */
public final class Errno {

  /** Operation not permitted. */
  public static final int EPERM = 1;

  /** No such file or directory. */
  public static final int ENOENT = 2;

  /** No such process. */
  public static final int ESRCH = 3;

  /** Interrupted system call. */
  public static final int EINTR = 4;

  /** Input/output error: the device failed or is gone. */
  public static final int EIO = 5;

  /** No such device or address; for a FIFO: no process reads from it. */
  public static final int ENXIO = 6;

  /** Bad file descriptor. */
  public static final int EBADF = 9;

  /** Try again: no event is pending, or a resource is used up for now. */
  public static final int EAGAIN = 11;

  /** Out of memory, or of another resource. */
  public static final int ENOMEM = 12;

  /** Permission denied. */
  public static final int EACCES = 13;

  /** Bad address. */
  public static final int EFAULT = 14;

  /** Device or resource busy. */
  public static final int EBUSY = 16;

  /** File exists. */
  public static final int EEXIST = 17;

  /** No such device. */
  public static final int ENODEV = 19;

  /** Not a directory. */
  public static final int ENOTDIR = 20;

  /** Invalid argument. */
  public static final int EINVAL = 22;

  /** Too many open files in the system. */
  public static final int ENFILE = 23;

  /** Too many open files in this process. */
  public static final int EMFILE = 24;

  /** File too large. */
  public static final int EFBIG = 27;

  /** No space left on the device. */
  public static final int ENOSPC = 28;

  /** Read-only file system. */
  public static final int EROFS = 30;

  /** File name too long. */
  public static final int ENAMETOOLONG = 36;

  /** Function not implemented. */
  public static final int ENOSYS = 38;

  /** Too many symbolic links, or one where none is permitted. */
  public static final int ELOOP = 40;

  /** Address already in use. */
  public static final int EADDRINUSE = 98;

  /** Cannot assign requested address. */
  public static final int EADDRNOTAVAIL = 99;

  /** Network is down. */
  public static final int ENETDOWN = 100;

  /** Network is unreachable. */
  public static final int ENETUNREACH = 101;

  /** Connection timed out. */
  public static final int ETIMEDOUT = 110;

  /** Connection refused. */
  public static final int ECONNREFUSED = 111;

  /** No route to host. */
  public static final int EHOSTUNREACH = 113;

  /** Disk quota exceeded. */
  public static final int EDQUOT = 122;

  private Errno() {}
}
