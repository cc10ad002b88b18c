// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

/**
 * Thrown when a C function fails. The message names the function, its argument, and errno with its
 * text.
 */
public final class PosixException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String function;
  private final String subject;
  private final int errno;

  /**
   * Creates an exception.
   *
   * @param function the function that failed
   * @param subject its argument
   * @param errno the error
   */
  public PosixException(String function, String subject, int errno) {
    super(describe(function + "(" + subject + ")", errno));
    this.function = function;
    this.subject = subject;
    this.errno = errno;
  }

  /**
   * Returns a description of a failure.
   *
   * @param function what failed
   * @param errno the error
   * @return the description
   */
  public static String describe(String function, int errno) {
    return function + ": " + Posix.strerror(errno) + " (errno " + errno + ")";
  }

  /** {@return the function that failed} */
  public String function() {
    return function;
  }

  /** {@return the argument of the function, as in the message} */
  public String subject() {
    return subject;
  }

  /** {@return the error} */
  public int errno() {
    return errno;
  }

  /**
   * Returns whether errno is one of the given values.
   *
   * @param candidates errno values
   * @return whether it is
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
   * {@return whether this process lacks a resource, such as memory or descriptors, whatever the
   * argument}
   */
  public boolean isShortage() {
    return is(Errno.EMFILE, Errno.ENFILE, Errno.ENOMEM, Errno.EAGAIN);
  }
}
