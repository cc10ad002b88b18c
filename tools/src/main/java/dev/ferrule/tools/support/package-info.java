// SPDX-License-Identifier: Apache-2.0

/**
 * Shared parts of the commands: exit codes, child processes, clean shutdown, affinity, terminals.
 */
@NullMarked
package dev.ferrule.tools.support;

import org.jspecify.annotations.NullMarked;
