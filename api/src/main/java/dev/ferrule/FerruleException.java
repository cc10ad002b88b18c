// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import dev.ferrule.spi.PlainText;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The superclass of all exceptions for conditions that a correct program may encounter at run time:
 * those that depend on its configuration (an address, an option), on its peer (which dies, is
 * silent, sends an invalid handle, or accepts only shorter messages), on the transport's limits, or
 * on the system.
 *
 * <table>
 * <caption>The connection after an exception</caption>
 * <tr><th>exception</th><th>connection</th></tr>
 * <tr><td>{@link ConnectionClosedException}, {@link PeerLostException}, {@link
 * ProtocolException}</td><td>has ended: close it, and connect again if necessary</td></tr>
 * <tr><td>{@link EndOfStreamException}</td><td>delivers no further message; has ended unless its
 * {@link Connection#state()} is {@link ConnectionState#OPEN}</td></tr>
 * <tr><td>{@link OperationTimeoutException}, {@link OperationInterruptedException}, {@link
 * MessageTooLongException}, {@link ResourceExhaustedException}, {@link
 * RemoteAccessException}</td><td>remains usable; except that a {@link ResourceExhaustedException}
 * of an RDMA device has ended it, if {@link Connection#state()} is {@link
 * ConnectionState#FAILED}</td></tr>
 * </table>
 *
 * <p>An error of the program's own code causes an exception of the JDK, the same in every method:
 *
 * <table>
 * <caption>Exceptions of the JDK</caption>
 * <tr><th>exception</th><th>cause</th></tr>
 * <tr><td>{@link NullPointerException}</td><td>an argument is null</td></tr>
 * <tr><td>{@link IndexOutOfBoundsException}</td><td>an offset and length are not within the memory
 * given</td></tr>
 * <tr><td>{@link IllegalArgumentException}</td><td>another argument is invalid whatever the
 * transport, as a negative length, or belongs to another object; or an {@link Rma} operation is too
 * long to start without waiting</td></tr>
 * <tr><td>{@link IllegalStateException}</td><td>the state of the object, or an option that it was
 * made with, does not permit the call, as freeing a region twice</td></tr>
 * <tr><td>{@link UnsupportedOperationException}</td><td>the provider, the device or the peer does
 * not have the operation</td></tr>
 * </table>
 *
 * <p>The text contains the URI of the connection or listener, if it has one, and a remedy, if there
 * is one. It is a single line without control characters: those in text from a peer or in a path
 * are escaped.
 */
public class FerruleException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient @Nullable URI uri;

  /**
   * Creates an exception.
   *
   * @param uri the connection or listener concerned, or null if there is none yet
   * @param message what failed, why, and how to fix it
   * @param cause the underlying failure, or null
   */
  public FerruleException(@Nullable URI uri, String message, @Nullable Throwable cause) {
    super(PlainText.of(uri == null ? message : uri + ": " + message), cause);
    this.uri = uri;
  }

  /**
   * {@return the URI of the connection or listener concerned, or null if the failure occurred
   * before it was known}
   */
  public final @Nullable URI uri() {
    return uri;
  }
}
