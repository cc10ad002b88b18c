// SPDX-License-Identifier: Apache-2.0

/** The presentation of measurements: plots and formatted numbers. */
@NullMarked
package dev.ferrule.tools.report;

import org.jspecify.annotations.NullMarked;
