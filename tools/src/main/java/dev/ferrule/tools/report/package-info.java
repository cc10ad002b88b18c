// SPDX-License-Identifier: Apache-2.0

/** The presentation of measurements: plots, tables, and a page of them. */
package dev.ferrule.tools.report;
