// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRejectedException;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.Ferrule;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The payload that two {@code ferrule} commands exchange when they connect: a magic number of seven
 * letters, the purpose of the connection, and the version of the protocol. A listener that rejects
 * a client of another purpose sends its own payload.
 */
public enum CommandHandshake {
  /**
   * Rounds of measurement: {@code ferrule serve} with {@code ferrule latency}, {@code bandwidth}
   * and {@code rma}.
   */
  BENCHMARK(
      'B',
      6,
      "'ferrule serve', the server of 'ferrule latency', 'ferrule bandwidth' and"
          + " 'ferrule rma'"),

  /** One stream of bytes: {@code ferrule listen} with {@code ferrule send}. */
  STREAM('S', 1, "'ferrule listen', the receiver of 'ferrule send'");

  private static final byte[] MAGIC = "FERRULE".getBytes(StandardCharsets.US_ASCII);
  private static final int PURPOSE = MAGIC.length;
  private static final int VERSION = PURPOSE + 1;
  private static final int LENGTH = VERSION + 1;
  private static final byte FULL = 'F';
  private static final byte UNABLE = 'U';

  private final byte purpose;
  private final byte version;
  private final String listener;

  CommandHandshake(char purpose, int version, String listener) {
    this.purpose = (byte) purpose;
    this.version = (byte) version;
    this.listener = listener;
  }

  /**
   * {@return a new array with the payload}
   *
   * @param more further bytes after it; at most 16 in a connect request
   */
  public byte[] payload(byte... more) {
    return ByteBuffer.allocate(LENGTH + more.length)
        .put(MAGIC)
        .put(purpose)
        .put(version)
        .put(more)
        .array();
  }

  /**
   * {@return a new array with the bytes after this purpose's payload; empty if the peer has another
   * purpose or version}
   *
   * @param payload the payload that the peer has sent
   */
  public Optional<byte[]> more(byte[] payload) {
    return payload.length >= LENGTH && Arrays.equals(payload, 0, LENGTH, payload(), 0, LENGTH)
        ? Optional.of(Arrays.copyOfRange(payload, LENGTH, payload.length))
        : Optional.empty();
  }

  /** {@return the payload with which a listener rejects a client beyond its limit of clients} */
  public byte[] full() {
    return payload(FULL);
  }

  /**
   * {@return the payload with which a listener rejects a request that it cannot fulfil. It prints
   * the reason}
   */
  public byte[] unable() {
    return payload(UNABLE);
  }

  /**
   * Connects to a listener for this purpose.
   *
   * @param address the listener's address
   * @param options options of the connection, without a payload
   * @param more further bytes in the connect request
   * @return the connection
   * @throws ToolException if the listener has another purpose or version
   */
  public Connection connect(URI address, ConnectionOptions options, byte... more) {
    Connection connection;
    try {
      connection = Ferrule.connect(address, options.toBuilder().payload(payload(more)).build());
    } catch (ConnectionRejectedException e) {
      throw new ToolException(ExitCode.NO_CONNECTION, address + ": " + whyRejected(e.payload()), e);
    }
    if (more(connection.peerPayload()).isEmpty()) {
      connection.close();
      throw new ToolException(
          ExitCode.NO_CONNECTION, address + ": the listener is not " + listener);
    }
    return connection;
  }

  private String whyRejected(byte[] payload) {
    if (payload.length < LENGTH
        || !Arrays.equals(payload, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
      return "connection rejected: the listener is not " + listener;
    }
    if (Arrays.equals(payload, full())) {
      return "connection rejected: the server's limit of clients is reached; try again later";
    }
    if (Arrays.equals(payload, unable())) {
      return "connection rejected: the server cannot fulfil the request; its error output has the"
          + " reason";
    }
    if (payload[PURPOSE] == purpose) {
      return ("protocol version mismatch: the peer has version %s, this command has version %s; use"
              + " the same release of ferrule on both sides")
          .formatted(payload[VERSION], version);
    }
    for (CommandHandshake other : values()) {
      if (payload[PURPOSE] == other.purpose) {
        return "connection rejected: the listener is " + other.listener;
      }
    }
    return "connection rejected: the listener is a command of a newer release of ferrule";
  }

  /**
   * Accepts a client with this purpose, and rejects any other. Ignores further bytes of the
   * request.
   *
   * @param request the client's request
   * @param problems receives one line if a client is not accepted
   * @param answer further bytes for the client, after the payload
   * @return the connection; empty if the client was rejected or has disconnected
   */
  public Optional<Connection> accept(
      ConnectionRequest request, Consumer<String> problems, byte... answer) {
    if (more(request.payload()).isEmpty()) {
      request.reject(payload());
      problems.accept(request.peer() + " rejected: not a client of " + listener);
      return Optional.empty();
    }
    try {
      return Optional.of(request.accept(payload(answer)));
    } catch (ConnectionClosedException | PeerLostException | OperationTimeoutException e) {
      problems.accept("a client disconnected before it was accepted: " + e.getMessage());
      return Optional.empty();
    }
  }
}
