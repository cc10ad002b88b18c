// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionRejectedException;
import dev.ferrule.FerruleException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.VersionMismatchException;
import dev.ferrule.posix.Errno;
import dev.ferrule.verbs.cm.CmEvent;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Converts the rejection of a client to an exception. A program states its reason in the private
 * data; a kernel sends a reason code of the InfiniBand specification (12.6.7.2).
 */
final class Rejections {

  private Rejections() {}

  /**
   * Returns the exception for a rejection.
   *
   * @param uri the listener's address
   * @param protocol the client's protocol
   * @param hasHandshake whether the client has sent a hello
   * @param event the rejection
   */
  static FerruleException of(URI uri, RdmaProtocol protocol, boolean hasHandshake, CmEvent event) {
    if (!isByProgram(event.status())) {
      return byKernel(uri, event.status());
    }
    Optional<Hello> decoded = protocol.hello().decode(event.privateData());
    if (decoded.isEmpty()) {
      return refused(uri, withoutAnswer(protocol, hasHandshake, event.privateData()));
    }
    Hello hello = decoded.get();
    if (hello.version() != protocol.hello().version()) {
      return versionMismatch(uri, protocol, hello);
    }
    String text = new String(hello.payload(), StandardCharsets.UTF_8);
    return switch (hello.kind()) {
      case REJECT -> new ConnectionRejectedException(uri, hello.payload());
      case NO_ROOM ->
          new ResourceExhaustedException(uri, "the listener lacks a resource: " + text, null);
      default -> refused(uri, text);
    };
  }

  static VersionMismatchException versionMismatch(URI uri, RdmaProtocol protocol, Hello hello) {
    return new VersionMismatchException(
        uri,
        "the listener speaks version "
            + hello.version()
            + " of the protocol, this side version "
            + protocol.hello().version()
            + ": use the same release on both sides",
        null);
  }

  private static ConnectionRefusedException refused(URI uri, String reason) {
    return new ConnectionRefusedException(uri, "connection refused: " + reason, null);
  }

  /**
   * Returns whether the peer's program has rejected the client. The second status is that of iWARP.
   */
  private static boolean isByProgram(int status) {
    return status == CmEvent.REJECTED_BY_CONSUMER || status == -Errno.ECONNREFUSED;
  }

  /**
   * Returns the message for a listener's program that rejected the client without a hello, or that
   * ended before it answered.
   */
  private static String withoutAnswer(RdmaProtocol protocol, boolean hasHandshake, byte[] data) {
    Optional<String> other = HelloFormat.schemeOf(data);
    if (other.isPresent()) {
      return "the listener speaks "
          + other.get()
          + ", not "
          + protocol.scheme()
          + "; connect to "
          + other.get()
          + "://HOST:PORT";
    }
    for (byte each : data) {
      if (each != 0) {
        return hasHandshake
            ? "the listener is not Ferrule"
            : "the listener has rejected the client";
      }
    }
    return "the listener was closed, or its process ended, before it answered;"
        + " or it is not Ferrule and has rejected the client";
  }

  private static FerruleException byKernel(URI uri, int reason) {
    String text = reason(reason) + " (reject reason " + reason + ")";
    return switch (reason) {
      case 1, 2, 3 -> new ResourceExhaustedException(uri, text, null);
      default -> refused(uri, text);
    };
  }

  private static String reason(int reason) {
    return switch (reason) {
      case 1, 2 -> "the listener's host is out of queue pairs";
      case 3 -> "the listener's host is out of resources for another connection";
      case 4 -> "the connection timed out at the listener's host: try again";
      case 6, 7, 30 -> "the connection is unknown to the listener's host: try again";
      case 8 -> "no listener at that port (start one, or check the port)";
      case 5, 9 ->
          "the listener's host does not support this kind of connection (reliable, connected)";
      case 10 ->
          "the listener's host still has an earlier connection of the same queue pair: try again";
      case 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 32, 33 ->
          "the listener's port rejects the route to it (address, service level, hop limit or rate):"
              + " check the addresses and the configuration of the network";
      case 24, 25 -> "the listener's host redirects clients to another port, which is unsupported";
      case 26 -> "the listener's port has a smaller MTU than the route to it: use the same MTU";
      case 27 -> "the listener's device supports fewer outstanding RDMA READs than requested";
      case 29 -> "the listener's host rejects the RNR retry count: see the option rnrRetry";
      case 31 -> "the listener's host speaks another version of the connection manager's protocol";
      default -> "the listener's host rejects the connection";
    };
  }
}
