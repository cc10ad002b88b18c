// SPDX-License-Identifier: Apache-2.0

/**
 * Measurements over a connection. The client controls them: it sends one {@link
 * dev.ferrule.tools.bench.Round} at a time to the server, another process, which performs its side
 * of the round. Measurements use only the public API.
 */
@NullMarked
package dev.ferrule.tools.bench;

import org.jspecify.annotations.NullMarked;
