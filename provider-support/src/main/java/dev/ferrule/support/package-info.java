// SPDX-License-Identifier: Apache-2.0
/**
 * The shared implementation of Ferrule's providers: waiting, connection lifecycle, line allocation,
 * ids, and base classes of senders, listeners, regions and remote memory access. Not for programs.
 */
@NullMarked
package dev.ferrule.support;

import org.jspecify.annotations.NullMarked;
