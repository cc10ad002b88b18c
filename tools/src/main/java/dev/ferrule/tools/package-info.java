// SPDX-License-Identifier: Apache-2.0

/** The {@code ferrule} command: one class for each of its subcommands. */
package dev.ferrule.tools;
