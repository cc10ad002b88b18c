// SPDX-License-Identifier: Apache-2.0

/** Checks which transports work on a machine, and how to fix the others. */
@NullMarked
package dev.ferrule.tools.doctor;

import org.jspecify.annotations.NullMarked;
