// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import java.util.List;

/**
 * The colours of plots, for all formats; each has six hexadecimal digits.
 *
 * @param text the colour of text
 * @param grid the colour of the grid lines
 * @param background the background of a standalone picture
 * @param curves the colours of the curves
 */
record Palette(String text, String grid, String background, List<String> curves) {

  static final Palette LIGHT =
      new Palette(
          "#222222",
          "#d8d8d8",
          "#ffffff",
          List.of(
              "#1f6fb4", "#c8501e", "#2a8a4a", "#8a4fb0", "#a67c00", "#b02a5b", "#0f8a8a",
              "#5c5c5c"));
  static final Palette DARK =
      new Palette(
          "#dddddd",
          "#444444",
          "#181a1b",
          List.of(
              "#6db3f2", "#ff9a62", "#6fd08c", "#c79bea", "#e3c04f", "#f386ae", "#5fd0d0",
              "#b5b5b5"));
}
