// SPDX-License-Identifier: Apache-2.0

/**
 * Measurements over a connection. The client drives: it sends one {@link
 * dev.ferrule.tools.bench.Round} at a time to the server, another process, which plays its part in
 * it. Measurements use the public API only.
 */
@NullMarked
package dev.ferrule.tools.bench;

import org.jspecify.annotations.NullMarked;
