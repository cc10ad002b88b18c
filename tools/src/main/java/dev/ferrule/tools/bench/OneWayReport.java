// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
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

  /** Decodes a report; throws a {@link ToolException} if the bytes are not a valid report. */
  static OneWayReport of(byte[] bytes) {
    if (bytes.length != LENGTH) {
      throw new ToolException(
          ExitCode.CONNECTION_LOST, "protocol violation: the server sent no report");
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    OneWayReport report =
        new OneWayReport(
            buffer.getLong(),
            buffer.getLong(),
            LatencySummary.read(buffer),
            LatencySummary.read(buffer));
    if (report.wrong < 0
        || report.wrong > report.messages
        || !report.receive.isValid()
        || !report.free.isValid()) {
      throw new ToolException(
          ExitCode.CONNECTION_LOST, "protocol violation: the server sent an invalid report");
    }
    return report;
  }
}
