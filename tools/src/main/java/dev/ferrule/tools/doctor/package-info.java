// SPDX-License-Identifier: Apache-2.0

/** Checks what works on a machine, and how to fix the rest: one class for each requirement. */
@NullMarked
package dev.ferrule.tools.doctor;

import org.jspecify.annotations.NullMarked;
