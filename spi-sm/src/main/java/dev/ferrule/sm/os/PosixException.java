// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import dev.ferrule.bindings.libc.LibC;

/** A C function failed. Names the function, what it was applied to, and errno with its text. */
public final class PosixException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int errno;

  /**
   * Creates an exception.
   *
   * @param function the function that failed
   * @param subject what it was applied to
   * @param errno why
   */
  public PosixException(String function, String subject, int errno) {
    super(describe(function + "(" + subject + ")", errno));
    this.errno = errno;
  }

  /**
   * Says in words that a function failed, and why.
   *
   * @param function what failed
   * @param errno why
   * @return the words
   */
  public static String describe(String function, int errno) {
    return function + ": " + text(errno) + " (errno " + errno + ")";
  }

  /**
   * Returns why the function failed.
   *
   * @return the errno value
   */
  public int errno() {
    return errno;
  }

  /**
   * Tells whether errno is one of the given values.
   *
   * @param candidates errno values
   * @return whether one of them is this one's
   */
  public boolean is(int... candidates) {
    for (int candidate : candidates) {
      if (candidate == errno) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns whether this process lacks memory, descriptors or the like, whatever it was applied to.
   *
   * @return whether it does
   */
  public boolean isShortage() {
    return is(LibC.EMFILE(), LibC.ENFILE(), LibC.ENOMEM(), LibC.EAGAIN());
  }

  private static String text(int errno) {
    return LibC.strerror(errno).reinterpret(256).getString(0);
  }
}
