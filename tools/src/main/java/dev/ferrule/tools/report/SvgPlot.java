// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import java.awt.Shape;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Line2D;
import java.awt.geom.Path2D;
import java.awt.geom.PathIterator;
import java.util.Arrays;
import java.util.Locale;

/**
 * Draws plots as SVG. A style sheet sets the colours, so that one drawing suits light and dark
 * backgrounds. Text is stored as text, so drawing needs no font. A tooltip at each dot shows its
 * values.
 */
public final class SvgPlot {

  private final PlotLayout layout;
  private final StringBuilder svg = new StringBuilder();

  private SvgPlot(Plot plot, PlotLayout.Dimensions shape) {
    this.layout = new PlotLayout(plot, shape);
  }

  /**
   * {@return two {@code svg} elements to embed in a page, for a wide and a narrow window. The style
   * sheet {@link #style} shows one of them. In a narrow window, the text of the wide one would be
   * too small to read}
   *
   * @param plot the plot
   */
  public static String inline(Plot plot) {
    return draw(plot, PlotLayout.Dimensions.WIDE, "plot wide", "", 0)
        + "\n"
        + draw(plot, PlotLayout.Dimensions.NARROW, "plot narrow", "", 0);
  }

  /**
   * {@return the text of a standalone file with a plot}
   *
   * @param plot the plot
   */
  public static String file(Plot plot) {
    String style = "<style>" + style("svg.plot", true) + "</style>";
    String drawing =
        draw(plot, PlotLayout.Dimensions.WIDE, "plot", style, PlotLayout.HEADLINE)
            .replaceFirst("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ");
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + drawing + "\n";
  }

  /**
   * {@return the style sheet of all plots, for light and dark backgrounds}
   *
   * @param root the selector of the plots
   * @param background whether a plot paints its own background
   */
  public static String style(String root, boolean background) {
    StringBuilder rules = new StringBuilder();
    rule(rules, root, "text", "font:" + PlotLayout.FONT_SIZE + "px system-ui,sans-serif");
    rule(rules, root, ".curve", "fill:none;" + width(PlotLayout.MEASURED_WIDTH));
    rule(rules, root, ".spread", "fill:none;opacity:.75;" + width(PlotLayout.SPREAD_WIDTH));
    String opacity = "opacity:" + PlotLayout.BESIDE_OPACITY;
    rule(rules, root, ".beside", width(PlotLayout.BESIDE_WIDTH) + ";" + opacity);
    rule(rules, root, ".model", width(PlotLayout.MODEL_WIDTH));
    for (int i = 0; i < PlotLayout.KINDS; i++) {
      String dashes = Arrays.toString(PlotLayout.DASHES.get(i)).replaceAll("[\\[\\],]|\\.0", "");
      rule(rules, root, ".m" + i, "stroke-dasharray:" + dashes);
    }
    return rules
        + scheme(root, Palette.LIGHT, background)
        + "@media(prefers-color-scheme:dark){"
        + scheme(root, Palette.DARK, background)
        + "}";
  }

  private static String scheme(String root, Palette palette, boolean background) {
    StringBuilder rules = new StringBuilder();
    rule(rules, root, "text", "fill:" + palette.text());
    rule(rules, root, ".grid", "stroke:" + palette.grid());
    if (background) {
      rules.append(root).append("{background:").append(palette.background()).append('}');
    }
    for (int i = 0; i < PlotLayout.COLOURS; i++) {
      String colour = palette.curves().get(i);
      rule(rules, root, ".c" + i, "stroke:" + colour);
      rule(rules, root, ".d" + i, "fill:" + colour);
    }
    return rules.toString();
  }

  private static void rule(StringBuilder rules, String root, String selector, String declarations) {
    rules.append(root).append(' ').append(selector);
    rules.append('{').append(declarations).append('}');
  }

  private static String width(double width) {
    return "stroke-width:" + width;
  }

  /** Draws a plot, with a title if there is space for a headline. */
  private static String draw(
      Plot plot, PlotLayout.Dimensions shape, String classes, String style, int headline) {
    SvgPlot drawing = new SvgPlot(plot, shape);
    drawing.add(
        "<svg class=\"%s\" role=\"img\" viewBox=\"0 %d %d %d\" aria-label=\"%s\">",
        classes,
        -headline,
        shape.width(),
        headline + drawing.layout.height(),
        Markup.escape(plot.title()));
    drawing.svg.append(style);
    Elements elements = drawing.new Elements();
    if (headline > 0) {
      elements.text(drawing.layout.middle(), 0, PlotLayout.Anchor.MIDDLE, plot.title());
    }
    drawing.layout.draw(elements);
    return drawing.svg.append("</svg>").toString();
  }

  /** Adds an element for each part. */
  private final class Elements implements PlotLayout.Surface {

    @Override
    public void grid(Line2D line) {
      add(
          "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
          line.getX1(), line.getX2(), line.getY1(), line.getY2());
    }

    @Override
    public void text(double left, double base, PlotLayout.Anchor anchor, String text) {
      add(
          "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>",
          left, base, anchor.name().toLowerCase(Locale.ROOT), Markup.escape(text));
    }

    @Override
    public void upwards(double left, double middle, String text) {
      add(
          "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" transform=\"rotate(-90 %.1f %.1f)\">%s</text>",
          left, middle, left, middle, Markup.escape(text));
    }

    @Override
    public void line(Plot.Curve curve, Path2D line) {
      String classes = "curve c" + PlotLayout.colour(curve) + look(curve);
      add("<path class=\"%s\" d=\"%s\"/>", classes, outline(line));
    }

    @Override
    public void spread(Plot.Curve curve, Path2D range) {
      add("<path class=\"spread c%d\" d=\"%s\"/>", PlotLayout.colour(curve), outline(range));
    }

    @Override
    public void dot(Plot.Curve curve, Shape dot, String word) {
      String classes = "d" + PlotLayout.colour(curve) + look(curve);
      String title = word.isEmpty() ? "" : "<title>" + Markup.escape(word) + "</title>";
      if (dot instanceof Ellipse2D circle) {
        add(
            "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\">%s</circle>",
            classes, circle.getCenterX(), circle.getCenterY(), circle.getWidth() / 2, title);
      } else {
        add("<path class=\"%s\" d=\"%s\">%s</path>", classes, outline(dot), title);
      }
    }
  }

  private static String outline(Shape shape) {
    StringBuilder outline = new StringBuilder();
    double[] place = new double[6];
    for (PathIterator path = shape.getPathIterator(null); !path.isDone(); path.next()) {
      outline.append(
          switch (path.currentSegment(place)) {
            case PathIterator.SEG_MOVETO -> to('M', place);
            case PathIterator.SEG_LINETO -> to('L', place);
            default -> "Z"; // outlines have no curved segments
          });
    }
    return outline.toString();
  }

  private static String to(char command, double[] place) {
    return String.format(Locale.ROOT, "%c%.1f %.1f", command, place[0], place[1]);
  }

  private static String look(Plot.Curve curve) {
    return switch (curve.style()) {
      case MEASURED -> "";
      case BESIDE -> " beside";
      case MODEL -> " model m" + PlotLayout.kind(curve);
    };
  }

  private void add(String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format, values)).append('\n');
  }
}
