// SPDX-License-Identifier: Apache-2.0

/** The presentation of measurements: plots, and the words for numbers. */
@NullMarked
package dev.ferrule.tools.report;

import org.jspecify.annotations.NullMarked;
