// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.AffineTransform;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Line2D;
import java.awt.geom.Path2D;
import java.awt.geom.Rectangle2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.imageio.ImageIO;
import javax.imageio.stream.MemoryCacheImageOutputStream;

/** Draws plots as PNG, where SVG is not usable: the same as {@link SvgPlot}, in light colours. */
public final class PngPlot {

  private static final double PIXELS = 2; // per unit of the layout, enough for printing
  private static final int MARGIN = 12;
  private static final Palette COLOURS = Palette.LIGHT;
  private static final int OPAQUE = 0xff;

  private PngPlot() {}

  /**
   * Writes a picture.
   *
   * @param plot the plot
   * @param file the file; replaced if it exists
   * @throws IOException if it cannot be written
   */
  public static void write(Plot plot, Path file) throws IOException {
    // Given a file, ImageIO prints a stack trace if it cannot write there.
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (MemoryCacheImageOutputStream stream = new MemoryCacheImageOutputStream(bytes)) {
      if (!ImageIO.write(image(plot), "png", stream)) {
        throw new IOException("this JDK cannot write PNG");
      }
    }
    Files.write(file, bytes.toByteArray());
  }

  static BufferedImage image(Plot plot) {
    PlotLayout.Shape shape = PlotLayout.Shape.WIDE;
    PlotLayout layout = new PlotLayout(plot, shape);
    int height = PlotLayout.HEADLINE + layout.height() + MARGIN;
    BufferedImage image =
        new BufferedImage(
            (int) (shape.width() * PIXELS), (int) (height * PIXELS), BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = image.createGraphics();
    try {
      graphics.setColor(Color.decode(COLOURS.background()));
      graphics.fillRect(0, 0, image.getWidth(), image.getHeight());
      graphics.scale(PIXELS, PIXELS);
      graphics.translate(0, PlotLayout.HEADLINE);
      graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
      graphics.setRenderingHint(
          RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
      graphics.setRenderingHint(
          RenderingHints.KEY_STROKE_CONTROL, RenderingHints.VALUE_STROKE_PURE);
      graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, PlotLayout.FONT_SIZE));
      Pixels pixels = new Pixels(graphics);
      pixels.text(layout.middle(), -2, PlotLayout.Anchor.MIDDLE, plot.title());
      layout.draw(pixels);
    } finally {
      graphics.dispose();
    }
    return image;
  }

  /** Draws each part immediately. */
  private static final class Pixels implements PlotLayout.Surface {
    private final Graphics2D graphics;

    private Pixels(Graphics2D graphics) {
      this.graphics = graphics;
    }

    @Override
    public void grid(double fromX, double fromY, double toX, double toY) {
      graphics.setColor(Color.decode(COLOURS.grid()));
      graphics.setStroke(new BasicStroke(1));
      graphics.draw(new Line2D.Double(fromX, fromY, toX, toY));
    }

    @Override
    public void text(double left, double base, PlotLayout.Anchor anchor, String text) {
      double width = graphics.getFontMetrics().stringWidth(text);
      double from =
          switch (anchor) {
            case START -> left;
            case MIDDLE -> left - width / 2;
            case END -> left - width;
          };
      graphics.setColor(Color.decode(COLOURS.text()));
      graphics.drawString(text, (float) from, (float) base);
    }

    @Override
    public void upwards(double left, double middle, String text) {
      AffineTransform before = graphics.getTransform();
      graphics.rotate(-Math.PI / 2, left, middle);
      text(left, middle, PlotLayout.Anchor.MIDDLE, text);
      graphics.setTransform(before);
    }

    @Override
    public void line(Plot.Curve curve, List<double[]> points) {
      Path2D line = new Path2D.Double();
      for (double[] point : points) {
        if (line.getCurrentPoint() == null) {
          line.moveTo(point[0], point[1]);
        } else {
          line.lineTo(point[0], point[1]);
        }
      }
      graphics.setColor(colour(curve));
      graphics.setStroke(stroke(curve));
      graphics.draw(line);
    }

    private static BasicStroke stroke(Plot.Curve curve) {
      return switch (curve.style()) {
        case MEASURED -> new BasicStroke((float) PlotLayout.MEASURED_WIDTH);
        case BESIDE -> new BasicStroke((float) PlotLayout.BESIDE_WIDTH);
        case MODEL ->
            new BasicStroke(
                (float) PlotLayout.MODEL_WIDTH,
                BasicStroke.CAP_BUTT,
                BasicStroke.JOIN_ROUND,
                1,
                dashes(curve),
                0);
      };
    }

    private static float[] dashes(Plot.Curve curve) {
      List<Integer> lengths = PlotLayout.DASHES.get(PlotLayout.kind(curve));
      float[] dashes = new float[lengths.size()];
      for (int i = 0; i < dashes.length; i++) {
        dashes[i] = lengths.get(i);
      }
      return dashes;
    }

    private static Color colour(Plot.Curve curve) {
      Color colour = Color.decode(COLOURS.curves().get(PlotLayout.colour(curve)));
      return new Color(
          colour.getRed(),
          colour.getGreen(),
          colour.getBlue(),
          curve.style() == Plot.Style.BESIDE
              ? (int) Math.round(OPAQUE * PlotLayout.BESIDE_OPACITY)
              : OPAQUE);
    }

    @Override
    public void spread(Plot.Curve curve, double left, double low, double high) {
      graphics.setColor(colour(curve));
      double half = PlotLayout.SPREAD_MARK;
      graphics.setStroke(new BasicStroke((float) PlotLayout.SPREAD_WIDTH));
      graphics.draw(new Line2D.Double(left, low, left, high));
      graphics.draw(new Line2D.Double(left - half, low, left + half, low));
      graphics.draw(new Line2D.Double(left - half, high, left + half, high));
    }

    @Override
    public void dot(Plot.Curve curve, double left, double top, String word) {
      double half = PlotLayout.DOT / 2;
      Rectangle2D square = new Rectangle2D.Double(left - half, top - half, 2 * half, 2 * half);
      graphics.setColor(colour(curve));
      graphics.fill(
          switch (PlotLayout.kind(curve)) {
            case 0 -> new Ellipse2D.Double(square.getX(), square.getY(), 2 * half, 2 * half);
            case 1 -> square;
            case 2 -> {
              double reach = half * PlotLayout.DIAMOND;
              yield polygon(
                  left, top - reach, left + reach, top, left, top + reach, left - reach, top);
            }
            default -> {
              double reach = half * PlotLayout.TRIANGLE;
              yield polygon(
                  left, top - reach, left + reach, top + reach, left - reach, top + reach);
            }
          });
    }

    private static Path2D polygon(double... places) {
      Path2D path = new Path2D.Double();
      path.moveTo(places[0], places[1]);
      for (int i = 2; i < places.length; i += 2) {
        path.lineTo(places[i], places[i + 1]);
      }
      path.closePath();
      return path;
    }
  }
}
