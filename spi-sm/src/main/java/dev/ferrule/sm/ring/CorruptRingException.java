// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

/** Something that the peer wrote to shared memory cannot be right. Nothing of it has been used. */
public final class CorruptRingException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message what the peer has done, as a sentence about it
   */
  public CorruptRingException(String message) {
    super(message);
  }
}
