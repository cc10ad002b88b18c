// SPDX-License-Identifier: Apache-2.0

/** Shared parts of the commands: exit codes, child processes, shutdown, affinity and terminals. */
@NullMarked
package dev.ferrule.tools.support;

import org.jspecify.annotations.NullMarked;
