// SPDX-License-Identifier: Apache-2.0

/**
 * The bookkeeping of a ring at both of its ends, without a device: what the sender may write and
 * where, and what the receiver has to free.
 */
@NullMarked
package dev.ferrule.magicring.ring;

import org.jspecify.annotations.NullMarked;
