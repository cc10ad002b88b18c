// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import org.jspecify.annotations.Nullable;

/** A failure of a command, reported to the user in one line, with the exit code. */
public final class ToolException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  /**
   * Creates an exception.
   *
   * @param exitCode one of {@link ExitCode}
   * @param message what failed, why, and what to do, in one line
   * @param cause the underlying failure, or null
   */
  public ToolException(int exitCode, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  /**
   * Creates an exception without a cause.
   *
   * @param exitCode one of {@link ExitCode}
   * @param message what failed, why, and what to do, in one line
   */
  public ToolException(int exitCode, String message) {
    this(exitCode, message, null);
  }

  /** {@return the exit code, one of {@link ExitCode}} */
  public int exitCode() {
    return exitCode;
  }
}
