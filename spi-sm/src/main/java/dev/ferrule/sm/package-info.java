// SPDX-License-Identifier: Apache-2.0
/**
 * The shared-memory provider. This package contains the connection and its halves; {@code ring} the
 * ring of the messages, {@code rma} remote memory access, {@code endpoint} the endpoints and the
 * handshake, {@code os} directories, locks, files of peers and KNEM. docs/protocol-sm.md specifies
 * the protocol.
 */
@NullMarked
package dev.ferrule.sm;

import org.jspecify.annotations.NullMarked;
