// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.posix.PosixException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a C function of libibverbs or librdmacm fails, or a system call that accompanies them,
 * such as mmap. The message contains the function, its subject, errno and, if known, the fix.
 */
public final class VerbsException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String function;
  private final int errno;

  /**
   * Creates an exception.
   *
   * @param function the C function
   * @param subject the subject of the call, such as a size or an address; may be empty
   * @param errno the errno, positive
   */
  public VerbsException(String function, String subject, int errno) {
    this(function, subject, errno, ErrnoAdvice.of(function, errno), null);
  }

  /**
   * Creates an exception with specific advice.
   *
   * @param function the C function
   * @param subject the subject of the call, such as a size or an address; may be empty
   * @param errno the errno, positive
   * @param advice what to do; may be empty
   * @param cause the underlying failure, or null
   */
  public VerbsException(
      String function, String subject, int errno, String advice, @Nullable Throwable cause) {
    super(
        PosixException.describe(function + (subject.isEmpty() ? "" : "(" + subject + ")"), errno)
            + (advice.isEmpty() ? "" : "; " + advice),
        cause);
    this.function = function;
    this.errno = errno;
  }

  /** {@return the name of the C function that failed} */
  public String function() {
    return function;
  }

  /** {@return the error number, positive} */
  public int errno() {
    return errno;
  }

  /**
   * Returns the result of a function, unless it is an error.
   *
   * @param function the C function
   * @param subject the subject of the call, such as a size or an address; may be empty
   * @param result the result; -errno for an error
   * @return the result
   * @throws VerbsException if the result is below 0
   */
  public static long check(String function, String subject, long result) {
    if (result < 0) {
      throw new VerbsException(function, subject, (int) -result);
    }
    return result;
  }
}
