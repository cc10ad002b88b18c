// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

/**
 * How messages are sent.
 *
 * @param sizeBytes the length of each, {@code k}
 * @param unacked how many may be unacknowledged at a time, at least 1
 * @param batch how many are handed to the transport at a time, at least 1
 */
public record Load(int sizeBytes, int unacked, int batch) {

  /** Refuses what cannot be. */
  public Load {
    if (sizeBytes < 0 || unacked < 1 || batch < 1) {
      throw new IllegalArgumentException(
          "a size is at least 0, unacked and batch at least 1: "
              + sizeBytes
              + ", "
              + unacked
              + ", "
              + batch);
    }
  }
}
