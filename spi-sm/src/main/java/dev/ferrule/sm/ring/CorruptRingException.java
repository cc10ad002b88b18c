// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

/** Something that the peer wrote to shared memory cannot be right. Nothing of it has been used. */
public final class CorruptRingException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  CorruptRingException(String message) {
    super(message);
  }
}
