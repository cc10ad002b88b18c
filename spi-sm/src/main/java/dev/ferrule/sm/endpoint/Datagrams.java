// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.posix.DatagramSocket;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.sm.endpoint.HandshakeMessage.Type;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Passes the datagrams that an endpoint receives to their handshakes. Confined to the endpoint's
 * thread.
 */
final class Datagrams {

  private static final Pattern PEER_SOCKET =
      Pattern.compile(".*/(" + SmAddress.PID + ")/(" + SmAddress.NUMBER + ")/sock", Pattern.DOTALL);

  /**
   * A message with the memory that was passed with it. The memory is lost if this process had no
   * descriptor for it.
   */
  record Received(
      HandshakeMessage message,
      SmAddress from,
      @Nullable PassedMemory memory,
      boolean isMemoryLost) {}

  private final Endpoint endpoint;
  private final DatagramSocket socket;
  private final Guard guard;

  Datagrams(Endpoint endpoint, DatagramSocket socket, Guard guard) {
    this.endpoint = endpoint;
    this.socket = socket;
    this.guard = guard;
  }

  /** Handles the datagrams that have arrived, up to a maximum. */
  void read(int maximum) {
    for (int i = 0; i < maximum; i++) {
      DatagramSocket.Datagram datagram = socket.receive();
      if (datagram == null) {
        return;
      }
      guard.run(() -> handleAndClose(datagram));
    }
  }

  /** Handles a datagram, and closes a file that no handshake has taken ownership of. */
  private void handleAndClose(DatagramSocket.Datagram datagram) {
    SealedFile file = datagram.file();
    boolean taken = false;
    try {
      taken = handle(datagram);
    } finally {
      if (file != null && !taken) {
        file.close();
      }
    }
  }

  /** Returns whether a handshake has taken ownership of the file. */
  private boolean handle(DatagramSocket.Datagram datagram) {
    Optional<HandshakeMessage> decoded = HandshakeMessage.decode(datagram.bytes());
    // The sender's path is valid in the sender's mount namespace; the directory may be mounted
    // elsewhere here. The sender is an endpoint of the same directory, so the last two names
    // identify it. A foreign process therefore cannot redirect replies to other files.
    Matcher matcher = datagram.from() == null ? null : PEER_SOCKET.matcher(datagram.from());
    if (decoded.isEmpty() || matcher == null || !matcher.matches()) {
      return false;
    }
    SmAddress from = endpoint.address().with(SmAddress.Id.of(matcher.group(1), matcher.group(2)));
    SealedFile file = datagram.file();
    PassedMemory memory = file == null ? null : new PassedMemory(file, datagram.sender());
    Received received = new Received(decoded.get(), from, memory, datagram.isFileLost());
    return switch (received.message.type()) {
      case CONNECT, ACK, CANCEL -> handleAsServer(received);
      default -> handleAsClient(received);
    };
  }

  private boolean handleAsClient(Received received) {
    HandshakeMessage message = received.message;
    ClientHandshake handshake = endpoint.clientHandshake(message.clientId());
    if (handshake != null) {
      return handshake.receive(received);
    }
    if (message.type() == Type.ACCEPT) { // the first cancellation was lost
      endpoint.send(new HandshakeMessage(Type.CANCEL, message.clientId(), 0), received.from);
    }
    return false;
  }

  private boolean handleAsServer(Received received) {
    HandshakeMessage message = received.message;
    Acceptor acceptor = endpoint.acceptor();
    if (message.version() != HandshakeMessage.VERSION) {
      endpoint.send(
          new HandshakeMessage(Type.VERSION_MISMATCH, message.clientId(), 0), received.from);
    } else if (acceptor != null) {
      return acceptor.receive(received);
    } else if (message.type() == Type.CONNECT) {
      String reason =
          ("no listener at %s (start one, or check the path): the endpoint belongs to a client, or to"
                  + " a server that is starting")
              .formatted(endpoint.address().uri());
      endpoint.send(HandshakeMessage.refusal(message.clientId(), reason), received.from);
    }
    return false;
  }
}
