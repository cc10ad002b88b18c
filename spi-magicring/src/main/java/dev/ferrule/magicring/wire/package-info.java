// SPDX-License-Identifier: Apache-2.0

/** What goes over the wire beside the messages: the hello of the handshake, and acknowledgments. */
@NullMarked
package dev.ferrule.magicring.wire;

import org.jspecify.annotations.NullMarked;
