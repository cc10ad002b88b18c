// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.rdma.context.SharedDevice;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.CompletionStatus;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/**
 * The protocol of an RDMA provider: its hello, its receive memory and its message format. A
 * connection is established in these steps:
 *
 * <ol>
 *   <li>this protocol, or the shared receive side of a listener, creates a {@link ReceiveSide};
 *   <li>the common part creates the queue pair and {@linkplain ReceiveSide#start starts} the
 *       receive side, which posts its receives;
 *   <li>{@link ReceiveSide#offer} returns the body of this side's hello, and {@link
 *       ReceiveSide#agree} reads the peer's;
 *   <li>{@link Agreement#open} creates the channel for messages.
 * </ol>
 *
 * <p><b>Threads:</b> safe for use by several threads.
 */
public interface RdmaProtocol {

  /** {@return the scheme of the provider's URIs, which is also its name} */
  String scheme();

  /** {@return the format of the provider's hello} */
  HelloFormat hello();

  /**
   * Returns whether the two sides exchange hellos.
   *
   * @param options this side's options
   * @return false for a peer that is not Ferrule
   */
  default boolean hasHandshake(ResolvedOptions options) {
    return true;
  }

  /**
   * Checks the valid hello of a client.
   *
   * @param options the listener's options
   * @param client the client's hello
   * @return the reason to reject the client; null if the program decides
   */
  default @Nullable String objection(ResolvedOptions options, Hello client) {
    return null;
  }

  /**
   * Creates the receive side of a connection that does not share its receives.
   *
   * @param device the connection's device
   * @param arena allocates the connection's memory; automatic
   * @param options this side's options
   * @param connects whether this side is the client
   * @return the receive side, not started yet, to be closed
   */
  ReceiveSide receiveSide(
      SharedDevice device, Arena arena, ResolvedOptions options, boolean connects);

  /**
   * Returns whether the connections of a listener share their receives.
   *
   * @param options the listener's options
   * @return whether they do
   */
  default boolean sharesReceives(ResolvedOptions options) {
    return false;
  }

  /**
   * Creates the shared receive side of a listener's connections on one device. Called only if
   * {@link #sharesReceives} returns true.
   *
   * @param device the device
   * @param arena allocates their memory; automatic
   * @param options the listener's options
   * @return the shared receive side
   */
  default SharedReceiveSide shareReceives(
      SharedDevice device, Arena arena, ResolvedOptions options) {
    throw new UnsupportedOperationException(scheme() + " does not share receives");
  }

  /**
   * Returns the protocol violation that the status of a failed send or WRITE shows.
   *
   * @param status the status
   * @return the violation; null if the status has another cause
   */
  @Nullable String violationOfSend(CompletionStatus status);

  /**
   * Returns the protocol violation that the status of a failed receive shows.
   *
   * @param status the status
   * @return the violation; null if the status has another cause
   */
  @Nullable String violationOfReceive(CompletionStatus status);

  /** {@return the parts of error messages that depend on the protocol} */
  ProtocolTexts texts();
}
