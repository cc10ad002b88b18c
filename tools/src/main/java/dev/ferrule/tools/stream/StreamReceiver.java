// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.stream;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionState;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;

/** The receiving end of a stream. */
public final class StreamReceiver {

  private static final ValueLayout.OfLong TOTAL =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final Connection connection;
  private long received;

  /**
   * Creates a receiver.
   *
   * @param connection a connection from a {@link StreamSender}
   */
  public StreamReceiver(Connection connection) {
    this.connection = connection;
  }

  /**
   * Receives the whole stream and confirms it to the sender. Messages are written directly from the
   * receive buffers.
   *
   * @param sink the output
   * @return the number of bytes
   */
  public long receive(WritableByteChannel sink) {
    try {
      while (true) {
        receivePiece(sink);
      }
    } catch (EndOfStreamException e) {
      checkComplete(e);
    }
    MemorySegment confirmation = MemorySegment.ofArray(new byte[Long.BYTES]);
    confirmation.set(TOTAL, 0, received);
    connection.sender().send(confirmation);
    return received;
  }

  /**
   * Throws if the connection is closed: a sender that is done keeps it open for the confirmation.
   */
  private void checkComplete(EndOfStreamException end) {
    if (connection.state() != ConnectionState.OPEN) {
      throw new ToolException(
          ExitCode.CONNECTION_LOST,
          "%s: incomplete stream: the sender closed the connection after %s bytes"
              .formatted(connection.uri(), received),
          end);
    }
  }

  private void receivePiece(WritableByteChannel sink) {
    try (ReceiveRegion message = connection.receiver().receive()) {
      ByteBuffer piece = message.segment().asByteBuffer();
      Pause pause = new Pause();
      while (piece.hasRemaining()) {
        if (sink.write(piece) == 0) {
          pause.take(); // a non-blocking pipe is full
        }
      }
      received += message.length();
    } catch (IOException e) {
      throw new ToolException(
          ExitCode.FAILED,
          "cannot write to standard output: %s; incomplete stream, stopped after %s bytes"
              .formatted(e.getMessage(), received),
          e);
    }
  }

  static boolean isConfirmation(ReceiveRegion message, long total) {
    return message.length() == Long.BYTES && message.segment().get(TOTAL, 0) == total;
  }
}
