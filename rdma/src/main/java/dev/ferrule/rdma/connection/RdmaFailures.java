// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.AddressInUseException;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.FerruleException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.EventDescriptor;
import dev.ferrule.posix.PosixException;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.support.ReadinessDescriptor;
import dev.ferrule.verbs.VerbsException;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** Converts a {@link VerbsException} to an exception of the API, with the address. */
final class RdmaFailures {

  private RdmaFailures() {}

  /** Returns the readiness of a connection or listener; null if its options request none. */
  static @Nullable ReadinessDescriptor readiness(URI uri, ResolvedOptions options) {
    return ReadinessDescriptor.ifRequested(options, uri, () -> openEvent(uri));
  }

  private static ReadinessDescriptor.Event openEvent(URI uri) {
    try {
      EventDescriptor event = new EventDescriptor();
      return new ReadinessDescriptor.Event(event.number(), event::setReadable, event::close);
    } catch (PosixException e) {
      throw of(uri, new VerbsException(e.function(), e.subject(), e.errno()));
    }
  }

  static FerruleException of(URI uri, OutOfMemoryError e) {
    return new ResourceExhaustedException(
        uri, e.getMessage() + "; raise the JVM's limit, such as that of the heap (-Xmx)", e);
  }

  static FerruleException of(URI uri, VerbsException e) {
    String message = String.valueOf(e.getMessage());
    return switch (e.errno()) {
      case Errno.ENOMEM, Errno.EAGAIN -> new ResourceExhaustedException(uri, message, e);
      case Errno.EADDRINUSE -> new AddressInUseException(uri, message, e);
      case Errno.ENETUNREACH, Errno.EHOSTUNREACH, Errno.ENETDOWN ->
          new ConnectionRefusedException(
              uri, "connection refused: no route to that host: " + message, e);
      case Errno.ENODEV, Errno.EADDRNOTAVAIL -> new InvalidAddressException(uri, message, e);
      default -> new FerruleException(uri, message, e);
    };
  }
}
