// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * Draws plots as SVG. One drawing does for light and for dark surroundings, since its colours are
 * those of a style sheet; its text is text, so nothing here needs a font, and each dot says what it
 * stands for when it is pointed at. That is why this is not left to the library that draws the PNG
 * pictures.
 */
public final class SvgPlot {

  /** How many colours there are; the next curve gets the first again. */
  static final int COLOURS = 8;

  private static final int WIDTH = 760;
  private static final int HEIGHT = 380;
  private static final int LEFT = 84;
  private static final int RIGHT = 20;
  private static final int TOP = 14;
  private static final int BOTTOM = 54;
  private static final int HEADLINE = 28;
  private static final int LEGEND_LINE = 20;
  private static final int MOST_LEGEND_COLUMNS = 3;
  private static final double LETTER = 6.5; // the mean width, about
  private static final int LEGEND_MARK = 28;
  private static final int LEGEND_GAP = 14;
  private static final int TICK_ROOM = 46;
  private static final double RADIUS = 3.2;

  private static final String[] LIGHT = {
    "#1f6fb4", "#c8501e", "#2a8a4a", "#8a4fb0", "#a67c00", "#b02a5b", "#0f8a8a", "#5c5c5c"
  };
  private static final String[] DARK = {
    "#6db3f2", "#ff9a62", "#6fd08c", "#c79bea", "#e3c04f", "#f386ae", "#5fd0d0", "#b5b5b5"
  };

  private final Plot plot;
  private final Scale x;
  private final Scale y;
  private final StringBuilder svg = new StringBuilder();

  private SvgPlot(Plot plot) {
    this.plot = plot;
    this.x = Scale.ofSteps(plot.x(), all(Plot.Dot::x), LEFT, WIDTH - RIGHT);
    this.y = Scale.ofValues(plot.y(), all(Plot.Dot::y), HEIGHT - BOTTOM, TOP);
  }

  private double[] all(ToDoubleFunction<Plot.Dot> coordinate) {
    return plot.curves().stream()
        .flatMap(curve -> curve.dots().stream())
        .mapToDouble(coordinate)
        .toArray();
  }

  /**
   * Draws a plot for use within a page that has the {@link #style}.
   *
   * @param plot the plot
   * @return an element {@code svg}
   */
  public static String inline(Plot plot) {
    return new SvgPlot(plot).draw("", 0);
  }

  /**
   * Draws a plot as a file of its own.
   *
   * @param plot the plot
   * @return the file's text
   */
  public static String file(Plot plot) {
    String drawing =
        new SvgPlot(plot)
            .draw("<style>" + style("svg.plot", true) + "</style>", HEADLINE)
            .replaceFirst("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ");
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + drawing + "\n";
  }

  /**
   * Returns the style sheet of all plots.
   *
   * @param root what selects the plots
   * @param background whether a plot paints its own background
   * @return the rules, for light and dark
   */
  static String style(String root, boolean background) {
    return root
        + " text{font:12px system-ui,sans-serif}"
        + root
        + " .curve{fill:none;stroke-width:2}"
        + root
        + " .beside{stroke-width:1.2;opacity:.6}"
        + root
        + " .model{stroke-dasharray:6 4;stroke-width:1.6}"
        + scheme(root, "#222", "#d8d8d8", background ? "#fff" : "", LIGHT)
        + "@media(prefers-color-scheme:dark){"
        + scheme(root, "#ddd", "#444", background ? "#181a1b" : "", DARK)
        + "}";
  }

  private static String scheme(
      String root, String text, String grid, String background, String[] colours) {
    StringBuilder rules = new StringBuilder();
    rules.append(root).append(" text{fill:").append(text).append("}");
    rules.append(root).append(" .grid{stroke:").append(grid).append("}");
    if (!background.isEmpty()) {
      rules.append(root).append("{background:").append(background).append("}");
    }
    for (int i = 0; i < COLOURS; i++) {
      rules.append(root).append(" .c").append(i).append("{stroke:").append(colours[i]).append("}");
      rules.append(root).append(" .d").append(i).append("{fill:").append(colours[i]).append("}");
    }
    return rules.toString();
  }

  /** A page has the title above the plot; a file has nothing else to say what it shows. */
  private String draw(String style, int headline) {
    int columns = legendColumns();
    int lines = (plot.curves().size() + columns - 1) / columns;
    add(
        "<svg class=\"plot\" role=\"img\" viewBox=\"0 %d %d %d\" aria-label=\"%s\">",
        -headline, WIDTH, headline + HEIGHT + lines * LEGEND_LINE, Markup.escape(plot.title()));
    svg.append(style);
    if (headline > 0) {
      text((LEFT + WIDTH - RIGHT) / 2.0, TOP - headline / 2.0, "middle", plot.title());
    }
    grid();
    for (Plot.Curve curve : plot.curves()) {
      curve(curve);
    }
    for (int i = 0; i < plot.curves().size(); i++) {
      legend(i, columns, plot.curves().get(i));
    }
    return svg.append("</svg>").toString();
  }

  private void grid() {
    double last = Double.NEGATIVE_INFINITY;
    for (double tick : x.ticks()) {
      double place = x.place(tick);
      add(
          "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>",
          place, place, TOP, HEIGHT - BOTTOM);
      if (place - last >= TICK_ROOM) {
        text(place, HEIGHT - BOTTOM + 18.0, "middle", plot.x().format(tick));
        last = place;
      }
    }
    for (double tick : y.ticks()) {
      double place = y.place(tick);
      add(
          "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>",
          LEFT, WIDTH - RIGHT, place, place);
      text(LEFT - 8.0, place + 4, "end", plot.y().format(tick));
    }
    text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 14.0, "middle", plot.x().label());
    double middle = (TOP + HEIGHT - BOTTOM) / 2.0;
    add(
        "<text x=\"16\" y=\"%.1f\" text-anchor=\"middle\" transform=\"rotate(-90 16 %.1f)\">%s</text>",
        middle, middle, Markup.escape(plot.y().label()));
  }

  private void curve(Plot.Curve curve) {
    List<Plot.Dot> dots =
        curve.dots().stream().filter(dot -> x.holds(dot.x()) && y.holds(dot.y())).toList();
    if (dots.isEmpty()) {
      return;
    }
    StringBuilder points = new StringBuilder();
    for (Plot.Dot dot : dots) {
      points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x.place(dot.x()), y.place(dot.y())));
    }
    add(
        "<polyline class=\"curve c%d%s\" points=\"%s\"/>",
        colour(curve), look(curve), points.toString().strip());
    if (curve.style() == Plot.Style.MODEL) {
      return;
    }
    for (Plot.Dot dot : dots) {
      add(
          "<circle class=\"d%d%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>%s</title></circle>",
          colour(curve),
          look(curve),
          x.place(dot.x()),
          y.place(dot.y()),
          RADIUS,
          Markup.escape(
              curve.name() + ", " + plot.x().format(dot.x()) + ": " + plot.y().format(dot.y())));
    }
  }

  private static int colour(Plot.Curve curve) {
    return Math.floorMod(curve.colour(), COLOURS);
  }

  private static String look(Plot.Curve curve) {
    return switch (curve.style()) {
      case MEASURED -> "";
      case BESIDE -> " beside";
      case MODEL -> " model";
    };
  }

  /** As many as there is room for by the longest name. */
  private int legendColumns() {
    int longest = plot.curves().stream().mapToInt(curve -> curve.name().length()).max().orElse(1);
    double wanted = LEGEND_MARK + LETTER * longest + LEGEND_GAP;
    return (int) Math.clamp((WIDTH - LEFT - RIGHT) / wanted, 1, MOST_LEGEND_COLUMNS);
  }

  private void legend(int index, int columns, Plot.Curve curve) {
    double column = (WIDTH - LEFT - RIGHT) / (double) columns;
    double left = LEFT + index % columns * column;
    double middle = HEIGHT + index / columns * LEGEND_LINE + LEGEND_LINE / 2.0 - 4;
    add(
        "<line class=\"curve c%d%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
        colour(curve), look(curve), left, left + 22, middle, middle);
    text(left + LEGEND_MARK, middle + 4, "start", curve.name());
  }

  private void text(double left, double base, String anchor, String text) {
    add(
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>",
        left, base, anchor, Markup.escape(text));
  }

  private void add(String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format, values)).append('\n');
  }
}
