// SPDX-License-Identifier: Apache-2.0
/**
 * The control plane: endpoints (directories with a lock, a socket and a FIFO), the handshake, and
 * noticing that a peer has died. {@link dev.ferrule.sm.endpoint.Endpoint} runs one thread for all
 * its connections; nothing here is called for a message, except to wake up a peer that sleeps.
 */
@NullMarked
package dev.ferrule.sm.endpoint;

import org.jspecify.annotations.NullMarked;
