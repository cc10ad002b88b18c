// SPDX-License-Identifier: Apache-2.0
/**
 * The control plane: endpoints (directories with a lock, a socket and a FIFO), the handshake, and
 * detection of dead peers. {@link dev.ferrule.sm.endpoint.Endpoint} runs one thread for all its
 * connections. The message path does not use this package, except to wake a sleeping peer.
 */
@NullMarked
package dev.ferrule.sm.endpoint;

import org.jspecify.annotations.NullMarked;
