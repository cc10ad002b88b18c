// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.posix.DatagramSocket;
import dev.ferrule.posix.SealedFile;
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
    // The sender's path is a path of its own file system, which may be mounted elsewhere here. The
    // sender is an endpoint of the same directory, so the last two names identify it. A foreign
    // process therefore cannot redirect replies to other files.
    Matcher matcher = datagram.from() == null ? null : PEER_SOCKET.matcher(datagram.from());
    if (decoded.isEmpty() || matcher == null || !matcher.matches()) {
      return false;
    }
    HandshakeMessage message = decoded.get();
    SmAddress from =
        endpoint
            .address()
            .with(
                new SmAddress.Id(
                    Long.parseLong(matcher.group(1)), Integer.parseInt(matcher.group(2))));
    SealedFile file = datagram.file();
    PassedMemory memory = file == null ? null : new PassedMemory(file, datagram.sender());
    switch (message.type()) {
      case CONNECT, ACK, CANCEL -> {
        return handleAsServer(message, from, memory, datagram.isFileLost());
      }
      default -> {
        ClientHandshake handshake = endpoint.clientHandshake(message.clientId());
        if (handshake != null) {
          return handshake.receive(message, from, memory, datagram.isFileLost());
        }
        if (message.type() == HandshakeMessage.Type.ACCEPT) {
          endpoint.send(
              ClientHandshake.cancellation(message.clientId()), from); // the first one was lost
        }
        return false;
      }
    }
  }

  private boolean handleAsServer(
      HandshakeMessage message,
      SmAddress from,
      @Nullable PassedMemory memory,
      boolean isMemoryLost) {
    if (message.version() != HandshakeMessage.VERSION) {
      endpoint.send(
          new HandshakeMessage(
              HandshakeMessage.Type.VERSION_MISMATCH, message.clientId(), 0, new byte[0]),
          from);
      return false;
    }
    Acceptor current = endpoint.acceptor();
    if (current != null) {
      return current.receive(message, from, memory, isMemoryLost);
    }
    if (message.type() == HandshakeMessage.Type.CONNECT) {
      endpoint.send(
          Acceptor.refusal(
              message.clientId(),
              "no listener at "
                  + endpoint.address().uri()
                  + " (start one, or check the path): the endpoint belongs to a client"),
          from);
    }
    return false;
  }
}
