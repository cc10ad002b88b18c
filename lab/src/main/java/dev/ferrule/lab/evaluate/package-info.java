// SPDX-License-Identifier: Apache-2.0

/**
 * {@code ferrule evaluate}: the experiments, the order in which their points are measured, the
 * journal of the measurements, and the report.
 *
 * <p>Other packages add an {@link Experiment} by implementing {@link Task}, which may measure
 * anything.
 */
@NullMarked
package dev.ferrule.lab.evaluate;

import org.jspecify.annotations.NullMarked;
