// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.FerruleException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.MessageTooLongException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.StandardOptions;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.endpoint.ClientEndpoints;
import dev.ferrule.sm.endpoint.ClientHandshake;
import dev.ferrule.sm.endpoint.Endpoint;
import dev.ferrule.sm.endpoint.EndpointScan;
import dev.ferrule.sm.endpoint.SmAddress;
import dev.ferrule.sm.os.Access;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.support.Deadlines;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.stream.Collectors;

/** Establishes one connection from the client's side. */
final class SmConnector {

  private final URI uri;
  private final SmAddress server;
  private final ResolvedOptions options;
  private final Facilities facilities;

  private SmConnector(URI uri, SmAddress server, ResolvedOptions options, Facilities facilities) {
    this.uri = uri;
    this.server = server;
    this.options = options;
    this.facilities = facilities;
  }

  static SmConnection connect(URI uri, ResolvedOptions options, Facilities facilities) {
    checkPayload(uri, options.payload());
    SmAddress address = SmAddress.parse(uri);
    SmOptions.layout(uri, options); // reports an invalid option before anything is created
    try {
      SmAddress server = address.endpoint() == null ? find(uri, address) : address;
      checkOwner(uri, server, options.get(SmOptions.ACCESS));
      return new SmConnector(uri, server, options, facilities).connect();
    } catch (InternalError e) { // a SIGBUS; not for a truncated file, as all files are sealed
      throw new ResourceExhaustedException(
          uri,
          "out of memory: no page is free for the connection's memory; free memory or huge pages",
          e);
    } catch (PosixException e) {
      throw e.is(Errno.EACCES, Errno.EPERM) ? anotherUsers(uri, e) : Failures.of(uri, e);
    } catch (AccessDeniedException e) {
      throw anotherUsers(uri, e);
    } catch (IOException e) {
      throw Failures.of(uri, e);
    }
  }

  private static void checkOwner(URI uri, SmAddress server, Access access) {
    if (!EndpointScan.isLive(server)) {
      throw noListener(uri, server, "no process owns the endpoint");
    }
    int owner =
        EndpointScan.owner(server)
            .orElseThrow(() -> noListener(uri, server, "the directory was not created by Ferrule"));
    // a user that may open all files may still create files that the other user may not open
    if (owner != Posix.geteuid() && access == Access.USER) {
      throw new ConnectionRefusedException(
          uri,
          "connection refused: the endpoint %s is owned by user id %s; %s"
              .formatted(server.directory(), owner, Access.FIX),
          null);
    }
  }

  private static ConnectionRefusedException anotherUsers(URI uri, Exception e) {
    return new ConnectionRefusedException(
        uri,
        "connection refused: the endpoint is owned by another user (permission denied: %s); %s"
            .formatted(e.getMessage(), Access.FIX),
        e);
  }

  static void checkPayload(URI uri, byte[] payload) {
    if (payload.length > Endpoint.MAX_PAYLOAD) {
      throw new MessageTooLongException(
          uri,
          payload.length,
          Endpoint.MAX_PAYLOAD,
          "payload too long: %s bytes exceed the limit of %s bytes; send the rest in a message"
              .formatted(payload.length, Endpoint.MAX_PAYLOAD));
    }
  }

  private static SmAddress find(URI uri, SmAddress address) throws IOException {
    List<SmAddress> listeners = EndpointScan.listeners(address);
    if (listeners.isEmpty()) {
      throw noListener(uri, address);
    }
    if (listeners.size() > 1) {
      throw new ConnectionRefusedException(
          uri,
          listeners.stream()
              .map(one -> one.uri().toString())
              .collect(
                  Collectors.joining(
                      ", ",
                      "connection refused: the directory has %s listeners (connect to one of them: "
                          .formatted(listeners.size()),
                      ")")),
          null);
    }
    return listeners.get(0);
  }

  /** Returns the failure to find a listener in PATH, which may not exist or not be a directory. */
  private static FerruleException noListener(URI uri, SmAddress address) {
    Path directory = address.base();
    try {
      // one system call: between two, the listener may create the directory
      if (Files.readAttributes(directory, BasicFileAttributes.class).isDirectory()) {
        return noListener(uri, address, "no live listener in the directory");
      }
      return new InvalidAddressException(
          uri,
          directory + " is a file, not a directory; use the path of the listener's address",
          null);
    } catch (IOException e) {
      return noListener(uri, address, missing(directory));
    }
  }

  private static String missing(Path directory) {
    return SmAddress.isNearlyEndpoint(directory)
        ? "the directory does not exist; an endpoint's path ends in PID/ID, with at most 9 and 5"
            + " digits"
        : "the directory does not exist";
  }

  private static ConnectionRefusedException noListener(URI uri, SmAddress address, String detail) {
    return new ConnectionRefusedException(
        uri,
        "connection refused: no listener at %s (start one, or check the path): %s"
            .formatted(address.uri(), detail),
        null);
  }

  private SmConnection connect() throws IOException {
    long deadline = Deadlines.after(options.get(StandardOptions.CONNECT_TIMEOUT));
    while (true) {
      try {
        return connect(deadline);
      } catch (GivenUpException e) {
        if (deadline - System.nanoTime() <= 0) {
          throw new OperationTimeoutException(uri, "connect timed out: " + e.getMessage(), e);
        }
      }
    }
  }

  /**
   * Thrown when the listener has closed its side because this side's confirmation was late, or when
   * its process has ended. Another attempt, with other memory, may be in time, or reach another
   * process.
   */
  private static final class GivenUpException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    GivenUpException(String message) {
      super(message);
    }
  }

  private static void checkNotGivenUp(SharedRing own) {
    if (own.ring().get(ValueLayout.JAVA_INT, RingLayout.SENDER_CLOSED) != 0) {
      throw new GivenUpException("the listener closed its side before this process confirmed it");
    }
  }

  /**
   * Checks that the server's address has belonged to a single process since the FIFO was opened,
   * before CONNECT was sent. Otherwise the acceptance and the FIFO may be of two processes, one of
   * which has ended, and the end of the other would not be detected.
   */
  private static void checkSameProcess(SmConnectionResources resources) {
    if (!resources.isPeerOpen()) {
      throw new GivenUpException("the listener's process ended while it accepted the connection");
    }
  }

  private SmConnection connect(long deadline) throws IOException {
    Endpoint client = ClientEndpoints.retain(server, options.get(SmOptions.ACCESS));
    SmConnectionResources resources = new SmConnectionResources(client, facilities, options);
    SmConnection connection = null;
    try {
      int id = resources.id();
      openFifo(resources);
      SharedRing own = resources.makeOwnRing(uri, 0);
      try (ClientHandshake handshake =
          client.connect(id, server, options.payload(), resources.ownFile())) {
        ClientHandshake.Accepted accepted =
            handshake.await(uri, deadline, answer -> isOurs(answer, own, resources));
        checkSameProcess(resources);
        resources.identifyPeer(accepted.serverId());
        checkNotGivenUp(own);
        connection =
            new SmConnection(server.connectionUri(id), resources, accepted.payload(), options);
        connection.countRetransmissions(handshake.retransmissions());
        connection.start();
        checkNotGivenUp(own); // again, as loading classes may have delayed the steps between
        handshake.confirm(accepted);
      }
      resources.closeOwnFile();
      return connection;
    } catch (Throwable e) {
      if (connection != null) {
        connection.close();
      } else {
        resources.close();
      }
      throw e;
    }
  }

  /**
   * Returns whether an acceptance belongs to this connection: the server's ring names ours as its
   * opposite.
   */
  private static boolean isOurs(
      ClientHandshake.Accepted answer, SharedRing own, SmConnectionResources resources) {
    checkNotGivenUp(own);
    return resources
        .attachPeerRing(answer.memory(), ring -> ring.peerGeneration() == own.generation())
        .isPresent();
  }

  private void openFifo(SmConnectionResources resources) {
    try {
      resources.openFifo(server);
    } catch (PosixException e) {
      if (e.is(Errno.ENXIO, Errno.ENOENT)) {
        throw noListener(uri, server, "the process that owned the endpoint has exited");
      }
      throw e;
    }
  }
}
