// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The server's report of a one-way round. The measured connection cannot carry it, so it is in the
 * payload with which the server accepts a later connection.
 *
 * @param messages the number of messages received
 * @param wrong the number of corrupt messages
 * @param receive the times of the calls that returned a message
 * @param free the times of the calls that freed it
 */
record OneWayReport(long messages, long wrong, LatencySummary receive, LatencySummary free) {

  private static final int LENGTH = 2 * Long.BYTES + 18 * Float.BYTES;

  byte[] toBytes() {
    ByteBuffer bytes = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(messages).putLong(wrong);
    receive.put(bytes);
    free.put(bytes);
    return bytes.array();
  }

  /** Decodes a report; throws a {@link BufferUnderflowException} if there are too few bytes. */
  static OneWayReport of(byte[] report) {
    ByteBuffer bytes = ByteBuffer.wrap(report).order(ByteOrder.LITTLE_ENDIAN);
    return new OneWayReport(
        bytes.getLong(), bytes.getLong(), LatencySummary.read(bytes), LatencySummary.read(bytes));
  }
}
