// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.AddressInUseException;
import dev.ferrule.FerruleException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.verbs.Errno;
import dev.ferrule.verbs.VerbsException;
import java.net.URI;

/** Turns what the verbs refused into an exception that names the address. */
final class RdmaFailures {

  private RdmaFailures() {}

  static FerruleException of(URI uri, VerbsException e) {
    String message = String.valueOf(e.getMessage());
    return switch (e.errno()) {
      case Errno.ENOMEM, Errno.EAGAIN -> new ResourceExhaustedException(uri, message, e);
      case Errno.EADDRINUSE -> new AddressInUseException(uri, message, e);
      case Errno.ENODEV, Errno.EADDRNOTAVAIL -> new InvalidAddressException(uri, message, e);
      default -> new FerruleException(uri, message, e);
    };
  }
}
