// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

/**
 * How messages are sent.
 *
 * @param sizeBytes the length of each, {@code k}
 * @param unacked the maximum number of unacknowledged messages, at least 1
 * @param batch the number of messages per batch, at least 1
 */
public record Load(int sizeBytes, int unacked, int batch) {

  public Load {
    if (sizeBytes < 0 || unacked < 1 || batch < 1) {
      throw new IllegalArgumentException(
          "size must be at least 0, unacked and batch at least 1: %s, %s, %s"
              .formatted(sizeBytes, unacked, batch));
    }
  }
}
