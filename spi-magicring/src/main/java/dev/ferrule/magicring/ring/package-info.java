// SPDX-License-Identifier: Apache-2.0

/**
 * A ring: its memory, and the state at both ends, independent of a device. The sender's state is
 * which bytes it may write; the receiver's is which messages it holds.
 */
@NullMarked
package dev.ferrule.magicring.ring;

import org.jspecify.annotations.NullMarked;
