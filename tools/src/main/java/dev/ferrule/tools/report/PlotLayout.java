// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import java.awt.Shape;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Line2D;
import java.awt.geom.Path2D;
import java.awt.geom.Rectangle2D;
import java.util.List;
import java.util.stream.DoubleStream;

/** The layout of a plot, independent of the output format. */
final class PlotLayout {

  /** The number of colours. The first colour follows the last one. */
  static final int COLOURS = 8;

  /** The number of dot shapes and of dash patterns, for readers who cannot distinguish colours. */
  static final int KINDS = 4;

  /** The space for a title above the plot. */
  static final int HEADLINE = 28;

  static final int FONT_SIZE = 12;

  /** Line widths. */
  static final double MEASURED_WIDTH = 2;

  static final double BESIDE_WIDTH = 1.2;
  static final double MODEL_WIDTH = 1.6;
  static final double SPREAD_WIDTH = 1.2;

  /** The opacity of a secondary curve. */
  static final double BESIDE_OPACITY = 0.6;

  /** The dashes and gaps of each kind of line of a model. */
  static final List<float[]> DASHES =
      List.of(
          new float[] {7, 4}, new float[] {2, 3}, new float[] {12, 3, 2, 3}, new float[] {4, 2});

  /** The side of a square dot, and the diameter of a round one. */
  private static final double DOT = 6.4;

  /** The ratio of the distance of a diamond's corners from its centre to half a square's side. */
  private static final double DIAMOND = 1.4;

  /** The same ratio for a triangle, horizontally and vertically. */
  private static final double TRIANGLE = 1.2;

  /** Half the width of the marks at both ends of a spread. */
  private static final double SPREAD_MARK = 3;

  private static final int TOP = 14;
  private static final int BOTTOM = 54;
  private static final int LEGEND_LINE = 20;
  private static final int MAX_LEGEND_COLUMNS = 3;
  private static final double LETTER = 6.5; // the approximate mean width
  private static final int LEGEND_MARK = 28;
  private static final int LEGEND_GAP = 14;
  private static final int TICK_GAP = 10;
  private static final int UNIT_ABOVE = 14;

  private final Plot plot;
  private final Dimensions shape;
  private final Scale x;
  private final Scale y;

  /**
   * The dimensions of a plot without its legend. Text has the same size in all plots.
   *
   * @param width its width
   * @param height its height
   * @param left the space for the labels of the y axis
   * @param right the space to the right of the plot area
   * @param legendLeft the left edge of the legend
   */
  record Dimensions(int width, int height, int left, int right, int legendLeft) {
    /** The dimensions for a wide screen and for a file. */
    static final Dimensions WIDE = new Dimensions(760, 380, 92, 20, 92);

    /** The dimensions for a phone. */
    static final Dimensions NARROW = new Dimensions(370, 310, 84, 26, 8);
  }

  /** The position of a text relative to its anchor. */
  enum Anchor {
    START,
    MIDDLE,
    END
  }

  /** A drawing surface. The origin is at the top left; the unit is that of {@link Dimensions}. */
  interface Surface {
    void grid(Line2D line);

    void text(double left, double base, Anchor anchor, String text);

    /** Draws text that runs upwards. */
    void upwards(double left, double middle, String text);

    void line(Plot.Curve curve, Path2D line);

    /** Draws the range from the minimum to the maximum of the rounds at a dot. */
    void spread(Plot.Curve curve, Path2D range);

    void dot(Plot.Curve curve, Shape dot, String word);
  }

  PlotLayout(Plot plot, Dimensions shape) {
    this.plot = plot;
    this.shape = shape;
    DoubleStream steps =
        plot.curves().stream().flatMap(curve -> curve.dots().stream()).mapToDouble(Plot.Dot::x);
    this.x = Scale.ofSteps(plot.x(), steps, shape.left, shape.width - shape.right);
    DoubleStream values = plot.curves().stream().flatMapToDouble(PlotLayout::drawn);
    this.y = Scale.ofValues(plot.y(), values, shape.height - BOTTOM, TOP);
  }

  /** Returns the values of a curve that must be visible. */
  private static DoubleStream drawn(Plot.Curve curve) {
    return curve.dots().stream()
        .flatMapToDouble(dot ->
            hasSpread(curve)
                ? DoubleStream.of(dot.y(), dot.low(), dot.high())
                : DoubleStream.of(dot.y()));
  }

  private static boolean hasSpread(Plot.Curve curve) {
    return curve.style() == Plot.Style.MEASURED;
  }

  static int colour(Plot.Curve curve) {
    return Math.floorMod(curve.colour(), COLOURS);
  }

  static int kind(Plot.Curve curve) {
    return Math.floorMod(curve.colour(), KINDS);
  }

  /** Returns the height including the legend. */
  int height() {
    int columns = legendColumns();
    return shape.height + (plot.curves().size() + columns - 1) / columns * LEGEND_LINE;
  }

  /** Returns the centre of the plot area. */
  double middle() {
    return (shape.left + shape.width - shape.right) / 2.0;
  }

  void draw(Surface surface) {
    grid(surface);
    plot.curves().forEach(curve -> curve(surface, curve));
    for (int i = 0; i < plot.curves().size(); i++) {
      legend(surface, i, plot.curves().get(i));
    }
  }

  private void grid(Surface surface) {
    double last = Double.NEGATIVE_INFINITY;
    for (double tick : x.ticks()) {
      double place = x.place(tick);
      surface.grid(new Line2D.Double(place, TOP, place, shape.height - BOTTOM));
      String text = plot.x().format(tick);
      double half = text.length() * LETTER / 2;
      if (place - half >= last && place + half <= shape.width) {
        surface.text(place, shape.height - BOTTOM + 18.0, Anchor.MIDDLE, text);
        last = place + half + TICK_GAP;
      }
    }
    double above = Double.POSITIVE_INFINITY;
    for (double tick : y.ticks()) {
      double place = y.place(tick);
      surface.grid(new Line2D.Double(shape.left, place, shape.width - shape.right, place));
      if (above - place >= UNIT_ABOVE) {
        surface.text(shape.left - 8.0, place + 4, Anchor.END, plot.y().format(tick));
        above = place;
      }
    }
    surface.text(middle(), shape.height - 14.0, Anchor.MIDDLE, plot.x().label());
    surface.upwards(16, (TOP + shape.height - BOTTOM) / 2.0, plot.y().label());
  }

  private void curve(Surface surface, Plot.Curve curve) {
    List<Plot.Dot> dots =
        curve.dots().stream().filter(dot -> Scale.holds(dot.x()) && Scale.holds(dot.y())).toList();
    if (dots.isEmpty()) {
      return;
    }
    double[] line = new double[2 * dots.size()];
    for (int i = 0; i < dots.size(); i++) {
      Plot.Dot dot = dots.get(i);
      double left = x.place(dot.x());
      if (hasSpread(curve) && dot.low() < dot.high() && Scale.holds(dot.low())) {
        surface.spread(curve, spread(left, y.place(dot.low()), y.place(dot.high())));
      }
      line[2 * i] = left;
      line[2 * i + 1] = y.place(dot.y());
    }
    surface.line(curve, line(line));
    if (curve.style() == Plot.Style.MODEL) {
      return;
    }
    for (int i = 0; i < dots.size(); i++) {
      surface.dot(curve, dot(curve, line[2 * i], line[2 * i + 1]), word(curve, dots.get(i)));
    }
  }

  private static Path2D line(double... places) {
    Path2D path = new Path2D.Double();
    path.moveTo(places[0], places[1]);
    for (int i = 2; i < places.length; i += 2) {
      path.lineTo(places[i], places[i + 1]);
    }
    return path;
  }

  private static Path2D polygon(double... places) {
    Path2D path = line(places);
    path.closePath();
    return path;
  }

  private static Path2D spread(double left, double low, double high) {
    Path2D path = line(left, low, left, high);
    path.append(line(left - SPREAD_MARK, low, left + SPREAD_MARK, low), false);
    path.append(line(left - SPREAD_MARK, high, left + SPREAD_MARK, high), false);
    return path;
  }

  /** Returns a dot: a circle, a square, a diamond or a triangle. */
  private static Shape dot(Plot.Curve curve, double left, double top) {
    double half = DOT / 2;
    double corner = half * DIAMOND;
    double reach = half * TRIANGLE;
    return switch (kind(curve)) {
      case 0 -> new Ellipse2D.Double(left - half, top - half, DOT, DOT);
      case 1 -> new Rectangle2D.Double(left - half, top - half, DOT, DOT);
      case 2 ->
          polygon(left, top - corner, left + corner, top, left, top + corner, left - corner, top);
      default -> polygon(left, top - reach, left + reach, top + reach, left - reach, top + reach);
    };
  }

  private String word(Plot.Curve curve, Plot.Dot dot) {
    String value = curve.name() + ", " + plot.x().format(dot.x()) + ": " + plot.y().format(dot.y());
    return dot.low() < dot.high()
        ? value + " (" + plot.y().format(dot.low()) + " to " + plot.y().format(dot.high()) + ")"
        : value;
  }

  /** Returns the number of columns of the legend that fit, given the longest name. */
  private int legendColumns() {
    int longest = plot.curves().stream().mapToInt(curve -> curve.name().length()).max().orElse(1);
    double wanted = LEGEND_MARK + LETTER * longest + LEGEND_GAP;
    return (int) Math.clamp(legendWidth() / wanted, 1, MAX_LEGEND_COLUMNS);
  }

  private int legendWidth() {
    return shape.width - shape.legendLeft - shape.right;
  }

  private void legend(Surface surface, int index, Plot.Curve curve) {
    int columns = legendColumns();
    double column = legendWidth() / (double) columns;
    double left = shape.legendLeft + index % columns * column;
    double middle = shape.height + index / columns * LEGEND_LINE + LEGEND_LINE / 2.0 - 4;
    surface.line(curve, line(left, middle, left + 22, middle));
    if (curve.style() != Plot.Style.MODEL) {
      surface.dot(curve, dot(curve, left + 11, middle), "");
    }
    int room = Math.max(1, (int) ((column - LEGEND_MARK) / LETTER));
    String name = curve.name();
    surface.text(
        left + LEGEND_MARK,
        middle + 4,
        Anchor.START,
        name.length() > room ? name.substring(0, room - 1) + "…" : name);
  }
}
