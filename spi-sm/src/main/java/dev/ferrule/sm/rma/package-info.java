// SPDX-License-Identifier: Apache-2.0
/**
 * Remote memory access: the table of each side's exposed regions, the methods of copying (KNEM,
 * cross-memory attach, fragments through a mapped buffer), and the selection of one for a
 * connection.
 */
@NullMarked
package dev.ferrule.sm.rma;

import org.jspecify.annotations.NullMarked;
