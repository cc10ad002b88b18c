// SPDX-License-Identifier: Apache-2.0

/** The provider {@code sendrecv}: see {@code docs/protocol-sendrecv.md} for the protocol. */
@NullMarked
package dev.ferrule.sendrecv;

import org.jspecify.annotations.NullMarked;
