// SPDX-License-Identifier: Apache-2.0

/**
 * A ring: its memory, and the bookkeeping at both ends, independent of a device: which bytes the
 * sender may write, and which messages the receiver holds.
 */
@NullMarked
package dev.ferrule.magicring.ring;

import org.jspecify.annotations.NullMarked;
