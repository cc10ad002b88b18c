// SPDX-License-Identifier: Apache-2.0

/** The wire format, apart from the messages: the hello of the handshake, and acknowledgments. */
@NullMarked
package dev.ferrule.magicring.wire;

import org.jspecify.annotations.NullMarked;
