// SPDX-License-Identifier: Apache-2.0

/**
 * Experiments with Ferrule, and comparisons with other transports, on the measuring engine of
 * {@link dev.ferrule.tools.bench}. Adds {@code evaluate} and {@code model} to the {@code ferrule}
 * command.
 */
@NullMarked
package dev.ferrule.lab;

import org.jspecify.annotations.NullMarked;
