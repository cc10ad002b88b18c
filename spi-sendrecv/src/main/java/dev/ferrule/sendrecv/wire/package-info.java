// SPDX-License-Identifier: Apache-2.0

/** The wire format: the hello of the handshake, and the immediate data of each message. */
@NullMarked
package dev.ferrule.sendrecv.wire;

import org.jspecify.annotations.NullMarked;
