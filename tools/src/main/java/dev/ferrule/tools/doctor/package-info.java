// SPDX-License-Identifier: Apache-2.0

/** Checks what works on a machine, and how to fix the rest: one class for each requirement. */
package dev.ferrule.tools.doctor;
