// SPDX-License-Identifier: Apache-2.0

/**
 * Measurements over a connection. The client drives: it sends one {@link
 * dev.ferrule.tools.bench.Round} at a time and the server, which is another process, plays its part
 * in it. Everything goes through the public API.
 */
package dev.ferrule.tools.bench;
