// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import java.util.List;

/**
 * One part of a report.
 *
 * @param id a name for links, unique in the report
 * @param title what it is about
 * @param text what was asked, and how it was measured
 * @param plots pictures of the answer
 * @param tables the same in numbers
 * @param notes what to know about it: what is missing and why, what went wrong
 */
public record Section(
    String id,
    String title,
    String text,
    List<Plot> plots,
    List<Table> tables,
    List<String> notes) {}
