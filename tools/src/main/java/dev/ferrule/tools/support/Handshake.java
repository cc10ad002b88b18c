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
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * What two {@code ferrule} commands tell each other when they connect: seven letters, what the
 * connection is for, and the version of the protocol that is spoken on it. Whoever listens for
 * something else says so in its rejection, in the same form.
 */
public enum Handshake {
  /**
   * Rounds of measurement: {@code ferrule serve} with {@code ferrule latency} and {@code
   * bandwidth}.
   */
  BENCHMARK('B', 3, "'ferrule serve', the other side of 'ferrule latency' and 'ferrule bandwidth'"),

  /** One stream of bytes: {@code ferrule listen} with {@code ferrule send}. */
  STREAM('S', 1, "'ferrule listen', the other side of 'ferrule send'");

  private static final byte[] MAGIC = "FERRULE".getBytes(StandardCharsets.US_ASCII);
  private static final int PURPOSE = MAGIC.length;
  private static final int VERSION = PURPOSE + 1;
  private static final int LENGTH = VERSION + 1;
  private static final byte FULL = 'F';

  private final byte purpose;
  private final byte version;
  private final String listener;

  Handshake(char purpose, int version, String listener) {
    this.purpose = (byte) purpose;
    this.version = (byte) version;
    this.listener = listener;
  }

  /**
   * Returns what goes over the wire.
   *
   * @return a new array, well below the 32 bytes that every provider takes
   */
  public byte[] payload() {
    byte[] payload = Arrays.copyOf(MAGIC, LENGTH);
    payload[PURPOSE] = purpose;
    payload[VERSION] = version;
    return payload;
  }

  /**
   * Returns what a listener for this purpose rejects a client with that it has no room for.
   *
   * @return a new array, as short as {@link #payload}
   */
  public byte[] full() {
    byte[] payload = Arrays.copyOf(payload(), LENGTH + 1);
    payload[LENGTH] = FULL;
    return payload;
  }

  /**
   * Connects to a listener for this purpose.
   *
   * @param address where it listens
   * @param options options of the connection, without a payload
   * @return the connection
   * @throws ToolException if what listens there is something else or of another version
   */
  public Connection connect(URI address, ConnectionOptions options) {
    Connection connection;
    try {
      connection = Ferrule.connect(address, options.toBuilder().payload(payload()).build());
    } catch (ConnectionRejectedException e) {
      throw new ToolException(ExitCode.NO_CONNECTION, address + ": " + whyRejected(e.payload()), e);
    }
    if (!Arrays.equals(connection.peerPayload(), payload())) {
      connection.close();
      throw new ToolException(
          ExitCode.NO_CONNECTION, address + ": the program that listens there is not " + listener);
    }
    return connection;
  }

  private String whyRejected(byte[] payload) {
    if (payload.length < LENGTH
        || !Arrays.equals(payload, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
      return "the listener rejected the connection; it is not " + listener;
    }
    if (Arrays.equals(payload, full())) {
      return "the server has as many clients as it takes; try again when one has ended";
    }
    if (payload[PURPOSE] == purpose) {
      return "the peer speaks version "
          + payload[VERSION]
          + " of this command's protocol, and this is version "
          + version
          + "; use the same release of ferrule on both sides";
    }
    for (Handshake other : values()) {
      if (payload[PURPOSE] == other.purpose) {
        return "what listens there is " + other.listener;
      }
    }
    return "what listens there is a command of a newer ferrule";
  }

  /**
   * Lets a client in if it comes for this purpose, and rejects it otherwise.
   *
   * @param request the client's request
   * @param problems told in one line why a client was not let in
   * @return the connection; empty if the client was rejected or has gone
   */
  public Optional<Connection> accept(ConnectionRequest request, Consumer<String> problems) {
    if (!Arrays.equals(request.payload(), payload())) {
      request.reject(payload());
      problems.accept(request.peer() + " was rejected: it is not a client of " + listener);
      return Optional.empty();
    }
    try {
      return Optional.of(request.accept(payload()));
    } catch (ConnectionClosedException | PeerLostException | OperationTimeoutException e) {
      problems.accept("a client gave up before it was let in: " + e.getMessage());
      return Optional.empty();
    }
  }
}
