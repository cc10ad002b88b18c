// SPDX-License-Identifier: Apache-2.0
/**
 * Remote memory access: the table of what each side exposes, the ways to copy (KNEM, cross-memory
 * attach, fragments through a mapped buffer), and which of them a connection takes.
 */
@NullMarked
package dev.ferrule.sm.rma;

import org.jspecify.annotations.NullMarked;
