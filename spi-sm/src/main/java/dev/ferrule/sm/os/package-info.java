// SPDX-License-Identifier: Apache-2.0
/**
 * The operating system interfaces of the shared-memory provider: files, locks, mappings, FIFOs and
 * datagrams.
 */
@NullMarked
package dev.ferrule.sm.os;

import org.jspecify.annotations.NullMarked;
