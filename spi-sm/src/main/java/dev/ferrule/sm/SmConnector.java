// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.FerruleException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ProtocolException;
import dev.ferrule.StandardOptions;
import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.endpoint.ClientEndpoints;
import dev.ferrule.sm.endpoint.ClientHandshake;
import dev.ferrule.sm.endpoint.Endpoint;
import dev.ferrule.sm.endpoint.EndpointScan;
import dev.ferrule.sm.endpoint.SmAddress;
import dev.ferrule.sm.os.Access;
import dev.ferrule.sm.os.PosixException;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.spi.Deadlines;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/** Makes one connection from the client's side. */
final class SmConnector {

  private static final String SAME_USER =
      "; run both processes as the same user, or let both have a group in common and the option"
          + " access=group";

  private final URI uri;
  private final SmAddress server;
  private final ConnectionOptions options;
  private final Facilities facilities;

  private SmConnector(URI uri, SmAddress server, ConnectionOptions options, Facilities facilities) {
    this.uri = uri;
    this.server = server;
    this.options = options;
    this.facilities = facilities;
  }

  static SmConnection connect(URI uri, ConnectionOptions options, Facilities facilities) {
    checkPayload(options.payload());
    SmAddress address = SmAddress.parse(uri);
    SmOptions.layout(uri, options); // a bad option is to be heard of before anything is made
    try {
      SmAddress server = address.endpoint() == null ? find(uri, address) : address;
      checkOwner(uri, server, options.get(SmOptions.ACCESS));
      return new SmConnector(uri, server, options, facilities).connect();
    } catch (InternalError e) { // the JDK's for memory whose file was truncated
      throw new ProtocolException(uri, "the listener has truncated its files", e);
    } catch (PosixException e) {
      throw e.is(LibC.EACCES(), LibC.EPERM()) ? anotherUsers(uri, e) : Failures.of(uri, e);
    } catch (AccessDeniedException e) {
      throw anotherUsers(uri, e);
    } catch (IOException e) {
      throw Failures.of(uri, e);
    }
  }

  private static void checkOwner(URI uri, SmAddress server, Access access) {
    if (!EndpointScan.isLive(server)) {
      throw new ConnectionRefusedException(
          uri, "nobody listens there: no process owns the endpoint " + server.directory(), null);
    }
    OptionalInt owner = EndpointScan.owner(server);
    if (owner.isEmpty()) {
      throw new ConnectionRefusedException(
          uri,
          "nobody listens there: the directory " + server.directory() + " was not made by Ferrule",
          null);
    }
    // whoever may open that user's files may still have some of its own that the user may not
    if (owner.getAsInt() != LibC.geteuid() && access == Access.USER) {
      throw new ConnectionRefusedException(
          uri,
          "the endpoint "
              + server.directory()
              + " belongs to the user with the id "
              + owner.getAsInt()
              + SAME_USER,
          null);
    }
  }

  private static ConnectionRefusedException anotherUsers(URI uri, Exception e) {
    return new ConnectionRefusedException(
        uri,
        "what is there belongs to another user (permission denied: "
            + e.getMessage()
            + ")"
            + SAME_USER,
        e);
  }

  static void checkPayload(byte[] payload) {
    if (payload.length > Endpoint.MAX_PAYLOAD) {
      throw new IllegalArgumentException(
          "a payload of "
              + payload.length
              + " bytes; sm takes "
              + Endpoint.MAX_PAYLOAD
              + " at most");
    }
  }

  private static SmAddress find(URI uri, SmAddress address) throws IOException {
    List<SmAddress> listeners = EndpointScan.listeners(address);
    if (listeners.isEmpty()) {
      throw nobody(uri, address.base());
    }
    if (listeners.size() > 1) {
      throw new InvalidAddressException(
          uri,
          listeners.size()
              + " listeners are in that directory; name one: "
              + listeners.stream()
                  .map(one -> one.uri().toString())
                  .collect(Collectors.joining(", ")),
          null);
    }
    return listeners.get(0);
  }

  /** Nobody listens in a directory, which may not even be what the user has in mind. */
  private static FerruleException nobody(URI uri, Path directory) {
    try {
      // one look: between two, the listener may have made the directory
      if (Files.readAttributes(directory, BasicFileAttributes.class).isDirectory()) {
        return new ConnectionRefusedException(
            uri, "nobody listens there: no live listener in " + directory, null);
      }
      return new InvalidAddressException(
          uri,
          directory + " is a file, not a directory; name the directory that the listener names",
          null);
    } catch (IOException e) {
      return new ConnectionRefusedException(uri, missing(directory), null);
    }
  }

  private static String missing(Path directory) {
    String hint =
        SmAddress.isNearlyEndpoint(directory)
            ? "; it is taken for a directory, because it ends in no PID/ID of an endpoint, whose PID"
                + " has at most 9 digits and whose ID at most 5: name the listener as it names itself"
            : "; start the listener first, or name the directory that it names";
    return "nobody listens there: there is no " + directory + hint;
  }

  private SmConnection connect() throws IOException {
    long deadline = Deadlines.after(options.get(StandardOptions.CONNECT_TIMEOUT));
    while (true) {
      try {
        return connect(deadline);
      } catch (GivenUpException e) {
        if (deadline - System.nanoTime() <= 0) {
          throw new OperationTimeoutException(
              uri,
              "the listener accepted the connection, but this process did not confirm it in time",
              e);
        }
      }
    }
  }

  /**
   * The listener has given up waiting for this side's confirmation, which this side was too slow
   * for, and has closed what it had made. Another attempt, with other memory, may be quicker.
   */
  private static final class GivenUpException extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private static void checkNotGivenUp(SharedRing own) {
    if (own.ring().get(ValueLayout.JAVA_INT, RingLayout.SENDER_CLOSED) != 0) {
      throw new GivenUpException();
    }
  }

  private SmConnection connect(long deadline) throws IOException {
    Endpoint client = ClientEndpoints.retain(server, options.get(SmOptions.ACCESS));
    ConnectionResources resources = new ConnectionResources(client, facilities);
    SmConnection connection = null;
    ClientHandshake handshake = null;
    boolean done = false;
    try {
      Endpoint endpoint = resources.endpoint();
      int id = resources.id();
      SharedRing own =
          resources.makeOwnRing(SmOptions.layout(uri, options), 0, SmOptions.rmaSizes(options));
      handshake = endpoint.connect(id, server, options.payload(), resources.ownFile());
      ClientHandshake.Accepted accepted =
          handshake.await(uri, deadline, answer -> isOurs(answer, own, resources));
      openPeer(resources, accepted.serverId());
      checkNotGivenUp(own);
      connection =
          new SmConnection(server.connectionUri(id), resources, accepted.payload(), options);
      connection.countRetransmissions(handshake.retransmissions());
      connection.start();
      handshake.confirm(accepted);
      resources.closeOwnFile();
      done = true;
      return connection;
    } finally {
      if (handshake != null) {
        handshake.end();
      }
      if (!done) {
        if (handshake != null) {
          handshake.cancel();
        }
        if (connection != null) {
          connection.close();
        } else {
          resources.close();
        }
      }
    }
  }

  /**
   * Returns whether an acceptance is of this connection, which it is if the server's ring names
   * ours as its opposite.
   */
  private static boolean isOurs(
      ClientHandshake.Accepted answer, SharedRing own, ConnectionResources resources) {
    checkNotGivenUp(own);
    return resources
        .attachPeerRing(answer.memory(), ring -> ring.peerGeneration() == own.generation())
        .isPresent();
  }

  private void openPeer(ConnectionResources resources, int serverId) {
    try {
      resources.openPeer(server, serverId);
    } catch (PosixException e) {
      if (e.is(LibC.ENXIO(), LibC.ENOENT())) {
        throw new ConnectionRefusedException(
            uri, "the listener's process died while it accepted the connection", e);
      }
      throw e;
    }
  }
}
