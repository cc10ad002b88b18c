// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler;

/** Results as a picture: over the size of the messages, the latency or the bytes per second. */
public final class ResultPlot {

  private static final int WIDTH_PIXELS = 1000;
  private static final int HEIGHT_PIXELS = 600;
  private static final int DOTS_PER_INCH = 150;

  /** A logarithmic axis has no place for 0. */
  private static final double LEAST = 1e-3;

  private static final String EXTENSION = ".png";

  private ResultPlot() {}

  /**
   * Refuses a file that {@link #write} could not write, before anything is measured.
   *
   * @param file where the picture is to go
   * @throws ToolException if it does not end in {@code .png}
   */
  public static void check(Path file) {
    if (!file.toString().toLowerCase(Locale.ROOT).endsWith(EXTENSION)) {
      throw new ToolException(
          ExitCode.USAGE, "--plot writes PNG pictures; give it a name that ends in " + EXTENSION);
    }
  }

  /**
   * Writes a picture.
   *
   * @param results the results, all of one command
   * @param file where to; replaced if it is there
   */
  public static void write(List<Result> results, Path file) {
    System.setProperty("java.awt.headless", "true");
    try {
      BitmapEncoder.saveBitmapWithDPI(
          chart(results), file.toString(), BitmapFormat.PNG, DOTS_PER_INCH);
    } catch (IOException e) {
      throw new ToolException(ExitCode.FAILED, "cannot write " + file + ": " + e.getMessage(), e);
    } catch (LinkageError | RuntimeException e) {
      // Without a single font the JDK's own drawing fails in many ways, all of them obscure.
      throw new ToolException(
          ExitCode.FAILED,
          "cannot draw "
              + file
              + " ("
              + e
              + "); that needs fonts, for example: apt-get install fontconfig fonts-dejavu-core",
          e);
    }
  }

  private static XYChart chart(List<Result> results) {
    Result first = results.get(0);
    boolean latency = first.latency() != null;
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH_PIXELS)
            .height(HEIGHT_PIXELS)
            .title(
                "ferrule "
                    + first.command()
                    + ", "
                    + first.subject().provider()
                    + ", wait "
                    + first.subject().waitStrategy()
                    + first.subject().crowd())
            .xAxisTitle("size of the messages (bytes)")
            .yAxisTitle(latency ? yTitle(first) : "throughput (GB/s)")
            .build();
    chart.getStyler().setXAxisLogarithmic(true);
    chart.getStyler().setYAxisLogarithmic(true);
    chart.getStyler().setDecimalPattern("#,##0.###");
    chart.getStyler().setChartBackgroundColor(Color.WHITE);
    chart.getStyler().setLegendPosition(Styler.LegendPosition.InsideNW);
    byCall(results).forEach((call, series) -> addSeries(chart, call, series));
    showWholeDecades(chart);
    return chart;
  }

  /** Lets the axis of the values start and end at a power of ten, for only those are labelled. */
  private static void showWholeDecades(XYChart chart) {
    DoubleSummaryStatistics values =
        chart.getSeriesCollection().stream()
            .flatMapToDouble(series -> Arrays.stream(series.getYData()))
            .summaryStatistics();
    chart.getStyler().setYAxisMin(Math.pow(10, Math.floor(Math.log10(values.getMin()))));
    chart.getStyler().setYAxisMax(Math.pow(10, Math.ceil(Math.log10(values.getMax()))));
  }

  private static String yTitle(Result first) {
    return first.call() == null ? "one-way latency (ns)" : "time of a call (ns)";
  }

  private static Map<String, List<Result>> byCall(List<Result> results) {
    Map<String, List<Result>> byCall = new LinkedHashMap<>();
    for (Result result : results) {
      String call = result.call() == null ? "" : result.call() + " ";
      byCall.computeIfAbsent(call, name -> new ArrayList<>()).add(result);
    }
    return byCall;
  }

  private static void addSeries(XYChart chart, String call, List<Result> results) {
    Result first = results.get(0);
    if (first.latency() == null) {
      add(chart, "ferrule", results, result -> result.bytesPerSecond().orElse(0) / 1e9);
      if (results.stream().allMatch(result -> result.memcpyBytesPerSecond().isPresent())) {
        add(chart, "memcpy", results, result -> result.memcpyBytesPerSecond().orElse(0) / 1e9);
      }
      return;
    }
    add(chart, call + "p50", results, result -> Objects.requireNonNull(result.latency()).p50());
    add(chart, call + "p99", results, result -> Objects.requireNonNull(result.latency()).p99());
    if (first.floorNanos().isPresent()) {
      add(chart, "floor (bare cache line)", results, result -> result.floorNanos().orElse(0));
    }
  }

  private static void add(
      XYChart chart, String name, List<Result> results, ToDoubleFunction<Result> value) {
    double[] sizes =
        results.stream().mapToDouble(result -> Math.max(1, result.sizeBytes())).toArray();
    chart.addSeries(
        name, sizes, results.stream().mapToDouble(value).map(y -> Math.max(y, LEAST)).toArray());
  }
}
