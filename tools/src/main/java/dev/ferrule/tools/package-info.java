// SPDX-License-Identifier: Apache-2.0

/** The {@code ferrule} command: one class for each of its subcommands. */
@NullMarked
package dev.ferrule.tools;

import org.jspecify.annotations.NullMarked;
