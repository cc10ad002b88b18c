// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.endpoint.FabricDevice;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/**
 * What sets one RDMA provider apart from the other: its hello, what it receives into, and what
 * messages look like. For each connection, in this order:
 *
 * <ol>
 *   <li>a {@link ReceiveSide} is made, by this or by what the connections of a listener share;
 *   <li>the common part makes the queue pair, and {@linkplain ReceiveSide#start starts} the receive
 *       side, which posts its receives;
 *   <li>{@link ReceiveSide#offer} goes into this side's hello, and {@link ReceiveSide#agree} reads
 *       the peer's;
 *   <li>{@link Agreement#open} makes the channel over which messages go.
 * </ol>
 *
 * <p><b>Threads:</b> any thread may call.
 */
public interface RdmaProtocol {

  /**
   * Returns the scheme of the provider's URIs, which is its name as well.
   *
   * @return the scheme
   */
  String scheme();

  /**
   * Returns what the provider's hello looks like.
   *
   * @return the format
   */
  HelloFormat hello();

  /**
   * Tells whether the two sides say hello at all.
   *
   * @param options this side's options
   * @return false for a peer that is not Ferrule
   */
  default boolean hasHandshake(ConnectionOptions options) {
    return true;
  }

  /**
   * Tells what there is to say against a client whose hello is one.
   *
   * @param options the listener's options
   * @param client what the client said
   * @return why it is turned away; null if it may be asked about
   */
  default @Nullable String objection(ConnectionOptions options, Hello client) {
    return null;
  }

  /**
   * Makes the receive side of a connection that shares it with no other.
   *
   * @param device the connection's device
   * @param arena the connection's memory; closed after the receive side is
   * @param options this side's options
   * @param connects whether this is the side that connects
   * @return the receive side, which holds nothing yet, but is to be closed
   */
  ReceiveSide receiveSide(
      FabricDevice device, Arena arena, ConnectionOptions options, boolean connects);

  /**
   * Tells whether the connections of a listener share what they receive into.
   *
   * @param options the listener's options
   * @return whether they do
   */
  default boolean sharesReceives(ConnectionOptions options) {
    return false;
  }

  /**
   * Makes what the connections of a listener on one device receive into. Only called if {@link
   * #sharesReceives}.
   *
   * @param device the device
   * @param arena memory for all of them; closed after the result is
   * @param options the listener's options
   * @return what is shared
   */
  default SharedReceiveSide shareReceives(
      FabricDevice device, Arena arena, ConnectionOptions options) {
    throw new UnsupportedOperationException(scheme() + " shares no receives");
  }

  /**
   * Tells whether a failed work request means that one side broke the protocol.
   *
   * @param status how it failed
   * @return what was done wrong; null if that is not what it means
   */
  @Nullable String violation(CompletionStatus status);

  /**
   * Returns what to tell the program where that depends on the protocol.
   *
   * @return the texts
   */
  ProtocolTexts texts();
}
