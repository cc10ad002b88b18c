// SPDX-License-Identifier: Apache-2.0

/**
 * {@code ferrule evaluate}: which experiments there are, in which order their points are measured,
 * the journal that keeps what was measured, and what becomes a report in the end.
 *
 * <p>Other packages add experiments by implementing {@link Experiment}, whose {@link Task}s may
 * measure anything.
 */
package dev.ferrule.tools.evaluate;
