// SPDX-License-Identifier: Apache-2.0

/** What was measured, for people: plots, tables, and a page that holds them. */
package dev.ferrule.tools.report;
