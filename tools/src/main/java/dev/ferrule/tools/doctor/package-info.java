// SPDX-License-Identifier: Apache-2.0

/** Checks what works on a machine, and how to fix the rest. */
@NullMarked
package dev.ferrule.tools.doctor;

import org.jspecify.annotations.NullMarked;
