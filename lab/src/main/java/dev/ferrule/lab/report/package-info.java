// SPDX-License-Identifier: Apache-2.0

/** The report of an evaluation: a page of sections with plots and tables, and a CSV file. */
@NullMarked
package dev.ferrule.lab.report;

import org.jspecify.annotations.NullMarked;
