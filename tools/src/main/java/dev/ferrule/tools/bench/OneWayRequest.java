// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * The bytes that a client of a one-way measurement adds to its connect request: the number that it
 * has chosen for the measurement, and the report that it requests, if any.
 *
 * @param measurement the number
 * @param report the index of the report; {@link #NONE} for the connection that is measured
 */
record OneWayRequest(long measurement, int report) {

  static final int NONE = -1;

  private static final int LENGTH = Long.BYTES + Integer.BYTES;

  byte[] toBytes() {
    return ByteBuffer.allocate(LENGTH)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(measurement)
        .putInt(report)
        .array();
  }

  /** Decodes a request; empty if the bytes are not a request. */
  static Optional<OneWayRequest> of(byte[] request) {
    if (request.length != LENGTH) {
      return Optional.empty();
    }
    ByteBuffer bytes = ByteBuffer.wrap(request).order(ByteOrder.LITTLE_ENDIAN);
    return Optional.of(new OneWayRequest(bytes.getLong(), bytes.getInt()));
  }
}
