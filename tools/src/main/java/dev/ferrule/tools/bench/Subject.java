// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

/**
 * Whose numbers they are.
 *
 * @param provider the scheme of the provider
 * @param waitStrategy how the client waits, as in a URI's query
 */
public record Subject(String provider, String waitStrategy) {}
