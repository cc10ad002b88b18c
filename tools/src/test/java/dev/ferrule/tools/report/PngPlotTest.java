// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.Shape;
import java.awt.geom.Line2D;
import java.awt.geom.Path2D;
import java.awt.image.BufferedImage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class PngPlotTest {

  @BeforeAll
  static void withoutADisplay() {
    System.setProperty("java.awt.headless", "true");
  }

  private static Plot plot(List<Plot.Dot> dots) {
    return new Plot(
        "p",
        "title",
        Axis.logarithmic("size (bytes)", Axis.Unit.BYTES),
        Axis.logarithmic("bandwidth (bytes/s)", Axis.Unit.BYTE_RATE),
        List.of(
            new Plot.Curve("a", 0, Plot.Style.MEASURED, dots),
            new Plot.Curve("b", 1, Plot.Style.MEASURED, dots.subList(0, 1))));
  }

  /** Returns the texts drawn on a plot. */
  private static List<String> texts(Plot plot) {
    List<String> texts = new ArrayList<>();
    new PlotLayout(plot, PlotLayout.Dimensions.WIDE)
        .draw(
            new PlotLayout.Surface() {
              @Override
              public void grid(Line2D line) {}

              @Override
              public void text(double left, double base, PlotLayout.Anchor anchor, String text) {
                texts.add(text);
              }

              @Override
              public void upwards(double left, double middle, String text) {
                texts.add(text);
              }

              @Override
              public void line(Plot.Curve curve, Path2D line) {}

              @Override
              public void spread(Plot.Curve curve, Path2D range) {}

              @Override
              public void dot(Plot.Curve curve, Shape dot, String word) {}
            });
    return texts;
  }

  @Test
  void sizesAreMarkedInPowersOfTwo() {
    assertThat(
            texts(
                plot(
                    List.of(new Plot.Dot(8, 1e6), new Plot.Dot(64, 2e6), new Plot.Dot(1024, 3e9)))))
        .contains("8 B", "64 B", "1 KiB", "1 MB/s", "1 GB/s", "size (bytes)");
    List<Plot.Dot> many =
        IntStream.range(0, 21).mapToObj(power -> new Plot.Dot(1L << power, 1e6)).toList();
    assertThat(texts(plot(many))).contains("1 B", "4 B", "64 B", "1 KiB", "256 KiB", "1 MiB");
  }

  @Test
  void thePictureHasTheColoursOfTheReport() {
    BufferedImage image = PngPlot.image(plot(List.of(new Plot.Dot(8, 1e6), new Plot.Dot(64, 2e6))));
    Set<String> colours = new HashSet<>();
    for (int x = 0; x < image.getWidth(); x++) {
      for (int y = 0; y < image.getHeight(); y++) {
        colours.add(String.format("#%06x", image.getRGB(x, y) & 0xffffff));
      }
    }
    assertThat(colours)
        .contains(Palette.LIGHT.curves().get(0), Palette.LIGHT.curves().get(1), "#ffffff");
    assertThat(SvgPlot.file(plot(List.of(new Plot.Dot(8, 1e6)))))
        .contains(Palette.LIGHT.curves().get(0));
  }
}
