// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a server does not serve a round: it violates the protocol, or exceeds a limit. The
 * client receives the message in a {@link Refusal}, and the connection ends.
 */
final class RoundRefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  RoundRefusedException(String message) {
    this(message, null);
  }

  RoundRefusedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
