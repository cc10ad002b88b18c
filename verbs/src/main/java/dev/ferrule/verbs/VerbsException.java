// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.FerruleException;
import org.jspecify.annotations.Nullable;

/**
 * A C function of libibverbs or librdmacm failed. The message names the function, what it was
 * called for, errno and, where there is one, the fix.
 */
public final class VerbsException extends FerruleException {

  private static final long serialVersionUID = 1L;

  private final String function;
  private final int errno;

  /**
   * Creates an exception.
   *
   * @param function the C function
   * @param subject what it was called for
   * @param errno what it reported
   */
  public VerbsException(String function, String subject, int errno) {
    this(function, subject, errno, Errno.advice(function, errno), null);
  }

  /**
   * Creates an exception with advice of its own.
   *
   * @param function the C function
   * @param subject what it was called for
   * @param errno what it reported
   * @param advice what to try; may be empty
   * @param cause the underlying failure, or null
   */
  public VerbsException(
      String function, String subject, int errno, String advice, @Nullable Throwable cause) {
    super(
        null,
        function
            + (subject.isEmpty() ? "" : "(" + subject + ")")
            + ": "
            + Errno.text(errno)
            + (advice.isEmpty() ? "" : "; " + advice),
        cause);
    this.function = function;
    this.errno = errno;
  }

  /**
   * Returns the function that failed.
   *
   * @return its name in C
   */
  public String function() {
    return function;
  }

  /**
   * Returns what the function reported.
   *
   * @return the errno, positive
   */
  public int errno() {
    return errno;
  }

  /**
   * Returns what a function returned, unless that is an error.
   *
   * @param function the C function
   * @param subject what it was called for
   * @param result what it returned; -errno for an error
   * @return the result
   * @throws VerbsException if it is below 0
   */
  public static long check(String function, String subject, long result) {
    if (result < 0) {
      throw new VerbsException(function, subject, (int) -result);
    }
    return result;
  }
}
