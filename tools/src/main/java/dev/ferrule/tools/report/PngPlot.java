// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.Shape;
import java.awt.geom.AffineTransform;
import java.awt.geom.Line2D;
import java.awt.geom.Path2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.imageio.ImageIO;
import javax.imageio.stream.MemoryCacheImageOutputStream;

/** Draws plots as PNG, for programs that cannot show SVG: as {@link SvgPlot}, in light colours. */
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
    // ImageIO would print a stack trace if it could not write to a file.
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (MemoryCacheImageOutputStream stream = new MemoryCacheImageOutputStream(bytes)) {
      if (!ImageIO.write(image(plot), "png", stream)) {
        throw new IOException("this JDK cannot write PNG");
      }
    }
    Files.write(file, bytes.toByteArray());
  }

  /** Draws a text, which fails where the JDK has no font. */
  public static void requireFont() {
    Graphics2D graphics = new BufferedImage(1, 1, BufferedImage.TYPE_INT_RGB).createGraphics();
    try {
      graphics.setFont(font());
      graphics.drawString("x", 0, 0);
    } finally {
      graphics.dispose();
    }
  }

  static BufferedImage image(Plot plot) {
    PlotLayout.Dimensions shape = PlotLayout.Dimensions.WIDE;
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
      graphics.setFont(font());
      Pixels pixels = new Pixels(graphics);
      pixels.text(layout.middle(), -2, PlotLayout.Anchor.MIDDLE, plot.title());
      layout.draw(pixels);
    } finally {
      graphics.dispose();
    }
    return image;
  }

  private static Font font() {
    return new Font(Font.SANS_SERIF, Font.PLAIN, PlotLayout.FONT_SIZE);
  }

  /** Draws each part immediately. */
  private static final class Pixels implements PlotLayout.Surface {
    private final Graphics2D graphics;

    private Pixels(Graphics2D graphics) {
      this.graphics = graphics;
    }

    @Override
    public void grid(Line2D line) {
      graphics.setColor(Color.decode(COLOURS.grid()));
      graphics.setStroke(new BasicStroke(1));
      graphics.draw(line);
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
    public void line(Plot.Curve curve, Path2D line) {
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
                PlotLayout.DASHES.get(PlotLayout.kind(curve)),
                0);
      };
    }

    private static Color colour(Plot.Curve curve) {
      Color colour = Color.decode(COLOURS.curves().get(PlotLayout.colour(curve)));
      boolean faint = curve.style() == Plot.Style.BESIDE;
      int opacity = faint ? (int) Math.round(OPAQUE * PlotLayout.BESIDE_OPACITY) : OPAQUE;
      return new Color(colour.getRed(), colour.getGreen(), colour.getBlue(), opacity);
    }

    @Override
    public void spread(Plot.Curve curve, Path2D range) {
      graphics.setColor(colour(curve));
      graphics.setStroke(new BasicStroke((float) PlotLayout.SPREAD_WIDTH));
      graphics.draw(range);
    }

    @Override
    public void dot(Plot.Curve curve, Shape dot, String word) {
      graphics.setColor(colour(curve));
      graphics.fill(dot);
    }
  }
}
