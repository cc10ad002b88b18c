// SPDX-License-Identifier: Apache-2.0
/**
 * What the shared-memory provider asks of the operating system: files, locks, mappings, FIFOs,
 * datagrams, event polling.
 */
@NullMarked
package dev.ferrule.sm.os;

import org.jspecify.annotations.NullMarked;
