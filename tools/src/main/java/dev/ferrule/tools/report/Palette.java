// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import java.util.List;

/** The colours of curves, for all kinds of pictures. */
final class Palette {

  static final List<String> LIGHT =
      List.of(
          "#1f6fb4", "#c8501e", "#2a8a4a", "#8a4fb0", "#a67c00", "#b02a5b", "#0f8a8a", "#5c5c5c");
  static final List<String> DARK =
      List.of(
          "#6db3f2", "#ff9a62", "#6fd08c", "#c79bea", "#e3c04f", "#f386ae", "#5fd0d0", "#b5b5b5");

  private Palette() {}
}
