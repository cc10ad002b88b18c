// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.tools.report.Axis;
import dev.ferrule.tools.report.Plot;
import dev.ferrule.tools.report.PngPlot;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.OutputFile;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** Plots the latency or the throughput against the message size. */
public final class ResultPlot {

  /** The value at which 0 is drawn, which a logarithmic axis cannot show. */
  private static final double LEAST = 1e-3;

  private static final String EXTENSION = ".png";

  private static final Function<Result, OptionalDouble> LINE = result -> result.floor().lineNanos();
  private static final Function<Result, OptionalDouble> RING = result -> result.floor().ringNanos();
  private static final Function<Result, OptionalDouble> RING_RATE =
      result -> result.bytesPerSecond(result.floor().ringMessagesPerSecond());

  private ResultPlot() {}

  /**
   * Rejects a file that {@link #write} could not write, before anything is measured.
   *
   * @param file the picture's file
   * @throws ToolException if it does not end in {@code .png} or cannot be written, or there is no
   *     font
   */
  public static void check(Path file) {
    if (!file.toString().toLowerCase(Locale.ROOT).endsWith(EXTENSION)) {
      throw new ToolException(
          ExitCode.USAGE, "--plot writes PNG files; the name must end in " + EXTENSION);
    }
    OutputFile.check(file);
    draw(file, PngPlot::requireFont);
  }

  /**
   * Writes a picture.
   *
   * @param results the results, all of one command
   * @param file the file; replaced if it exists
   */
  public static void write(List<Result> results, Path file) {
    draw(file, () -> PngPlot.write(plot(results), file));
  }

  private interface Drawing {
    void run() throws IOException;
  }

  private static void draw(Path file, Drawing drawing) {
    System.setProperty("java.awt.headless", "true");
    try {
      drawing.run();
    } catch (IOException e) {
      throw OutputFile.failure(file, e);
    } catch (LinkageError | RuntimeException e) {
      // Without a font, the JDK's drawing fails with one of several unrelated exceptions.
      throw new ToolException(
          ExitCode.FAILED,
          "cannot draw "
              + file
              + " ("
              + e
              + "); install a font, for example: apt-get install fontconfig fonts-dejavu-core",
          e);
    }
  }

  static Plot plot(List<Result> results) {
    Result first = results.get(0);
    boolean latency = first.latency() != null;
    boolean accesses = first.rma() != null;
    List<Plot.Curve> curves = new ArrayList<>();
    Map<String, List<Result>> byCall = new LinkedHashMap<>();
    for (Result result : results) {
      String call = result.call() == null ? "" : result.call() + " ";
      byCall.computeIfAbsent(call, name -> new ArrayList<>()).add(result);
    }
    byCall.forEach((call, some) -> addCurves(curves, call, some));
    return new Plot(
        "ferrule-" + first.command(),
        "ferrule " + first.command() + ", " + first.subject().title(),
        Axis.logarithmic(
            accesses ? "size of an access (bytes)" : "size of a message (bytes)", Axis.Unit.BYTES),
        latency
            ? Axis.logarithmic(
                first.call() == null ? "one-way latency (time)" : "time of a call", Axis.Unit.NANOS)
            : Axis.logarithmic("throughput (bytes/s)", Axis.Unit.BYTE_RATE),
        curves);
  }

  private static void addCurves(List<Plot.Curve> curves, String call, List<Result> results) {
    Result first = results.get(0);
    int colour = (int) curves.stream().mapToInt(Plot.Curve::colour).distinct().count();
    if (first.latency() == null) {
      add(curves, "ferrule", 0, Plot.Style.MEASURED, results, Result::bytesPerSecond);
      add(curves, "memcpy", 1, Plot.Style.MEASURED, results, Result::memcpyBytesPerSecond);
      add(curves, "bare ring", 2, Plot.Style.MEASURED, results, RING_RATE);
      return;
    }
    add(curves, call + "p50", colour, Plot.Style.MEASURED, results, time(LatencySummary::p50));
    add(curves, call + "p99", colour, Plot.Style.BESIDE, results, time(LatencySummary::p99));
    add(curves, "bare cache line", colour + 1, Plot.Style.MEASURED, results, LINE);
    add(curves, "bare ring", colour + 2, Plot.Style.MEASURED, results, RING);
  }

  private static Function<Result, OptionalDouble> time(ToDoubleFunction<LatencySummary> time) {
    return result -> some(time.applyAsDouble(Objects.requireNonNull(result.latency())));
  }

  private static OptionalDouble some(double value) {
    return Double.isNaN(value) ? OptionalDouble.empty() : OptionalDouble.of(value);
  }

  /** Adds a curve, unless it has no points, such as percentiles of few messages. */
  private static void add(
      List<Plot.Curve> curves,
      String name,
      int colour,
      Plot.Style style,
      List<Result> results,
      Function<Result, OptionalDouble> value) {
    List<Plot.Dot> dots = new ArrayList<>();
    for (Result result : results) {
      // a logarithmic axis cannot show 0
      value
          .apply(result)
          .ifPresent(
              y -> dots.add(new Plot.Dot(Math.max(1, result.sizeBytes()), Math.max(y, LEAST))));
    }
    if (!dots.isEmpty()) {
      curves.add(new Plot.Curve(name, colour, style, dots));
    }
  }
}
