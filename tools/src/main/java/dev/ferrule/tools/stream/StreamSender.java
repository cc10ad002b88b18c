// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.stream;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ReadableByteChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

/** The sending end of a stream. */
public final class StreamSender {

  /**
   * Long enough that the overhead of a message is small, short enough that several are in flight.
   */
  private static final int PIECE_BYTES = 256 << 10;

  private final Connection connection;
  private final LongConsumer progress;
  private final AtomicBoolean reading = new AtomicBoolean();
  private long sent;

  /**
   * Creates a sender.
   *
   * @param connection a connection to a {@link StreamReceiver}
   * @param progress receives the number of bytes sent so far
   */
  public StreamSender(Connection connection, LongConsumer progress) {
    this.connection = connection;
    this.progress = progress;
  }

  /**
   * Sends the whole input, and waits until the receiver has written it. The input is read directly
   * into the send buffers.
   *
   * @param source the input
   * @return the number of bytes
   */
  public long send(ReadableByteChannel source) {
    try {
      sendPieces(source);
      if (Guarded.exiting()) {
        // A signal to a whole pipeline also ends the program that writes the input, so the
        // input may be incomplete.
        throw new ToolException(ExitCode.FAILED, "interrupted; " + soFar());
      }
      connection.sender().close(); // the end of the stream
      awaitConfirmation();
      return sent;
    } catch (ConnectionClosedException | EndOfStreamException | OperationInterruptedException e) {
      throw lost(e);
    }
  }

  /**
   * Sends the input in pieces. A read from a terminal or pipe may block forever, so it is
   * interrupted when the connection is lost.
   */
  private void sendPieces(ReadableByteChannel source) {
    Thread reader = Thread.currentThread();
    reading.set(true);
    connection.onClose(closed -> {
      if (reading.compareAndSet(true, false)) {
        reader.interrupt();
      }
    });
    while (sendPiece(source)) {
      // next piece
    }
    if (!reading.compareAndSet(true, false)) {
      Thread.interrupted(); // not needed: the next operation reports the failure
    }
  }

  private boolean sendPiece(ReadableByteChannel source) {
    Sender sender = connection.sender();
    try {
      SendRegion region = sender.claim(Math.min(PIECE_BYTES, sender.maxMessage()));
      int length = read(source, region.segment().asByteBuffer());
      if (length < 0) {
        region.abort();
        return false;
      }
      region.commit(length);
      sent += length;
      progress.accept(sent);
      return true;
    } catch (ClosedByInterruptException | OperationInterruptedException e) {
      Thread.interrupted();
      throw lost(e);
    } catch (IOException e) {
      throw new ToolException(ExitCode.FAILED, "cannot read the input: " + e.getMessage(), e);
    }
  }

  /** Reads at least one byte; returns -1 at the end. */
  private static int read(ReadableByteChannel source, ByteBuffer piece) throws IOException {
    Pause pause = new Pause();
    int length = source.read(piece);
    while (length == 0) {
      pause.take(); // a non-blocking pipe or terminal is empty, not at its end
      length = source.read(piece);
    }
    return length;
  }

  private RuntimeException lost(Exception cause) {
    RuntimeException failure = connection.failure();
    return failure != null
        ? failure
        : new ToolException(
            ExitCode.CONNECTION_LOST,
            connection.uri()
                + ": the listener closed the connection before it had received the whole stream; "
                + soFar(),
            cause);
  }

  private void awaitConfirmation() {
    try (ReceiveRegion message = connection.receiver().receive()) {
      if (!StreamReceiver.isConfirmation(message, sent)) {
        throw new ToolException(
            ExitCode.CONNECTION_LOST,
            connection.uri()
                + ": the listener confirmed a different length than was sent; "
                + soFar());
      }
    }
  }

  private String soFar() {
    return sent + " bytes were sent";
  }
}
