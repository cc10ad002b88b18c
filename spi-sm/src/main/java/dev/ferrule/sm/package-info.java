// SPDX-License-Identifier: Apache-2.0
/**
 * The shared-memory provider. The connection and its halves are here; the ring that messages go
 * through is in {@code ring}, the endpoints and the handshake in {@code endpoint}, system calls in
 * {@code os}. The protocol is described in docs/sm.md.
 */
@NullMarked
package dev.ferrule.sm;

import org.jspecify.annotations.NullMarked;
