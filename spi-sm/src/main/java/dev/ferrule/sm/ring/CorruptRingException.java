// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

/**
 * Thrown when shared memory contains an invalid value written by the peer. The value has not been
 * used.
 */
public final class CorruptRingException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message the peer's protocol violation
   */
  public CorruptRingException(String message) {
    super(message);
  }
}
