// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.ferrule.tools.report.Plot;
import dev.ferrule.tools.support.Json;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class ResultTest {

  private static final OptionalDouble NONE = OptionalDouble.empty();
  private static final Subject SUBJECT = new Subject("sm", "spin", 1, 1);
  private static final LatencySummary LATENCY =
      new LatencySummary(45, 50.5, 60, 90.25, 120, 20_123_456, 61.54321, 51, 10);

  @Test
  void aLatencyIsWrittenWithTheDocumentedNamesAndWithoutMissingValues() {
    Result result = latency(64, 1_000_000, LATENCY, NONE, NONE);
    assertThat(json(result))
        .isEqualTo(
            """
            {
              "size_bytes": 64,
              "messages": 1000000,
              "latency_ns": {
                "min": 45,
                "p50": 50.5,
                "p90": 60,
                "p99": 90.3,
                "p999": 120,
                "max": 20123456,
                "mean": 61.5
              }
            }
            """);
    assertThat(Json.format(ResultJson.properties(List.of(result))))
        .isEqualTo(
            """
            {
              "provider": "sm",
              "wait": "spin",
              "method": "round-trip"
            }
            """);
  }

  @Test
  void aMeasuredFloorIsWritten() {
    Result result = latency(64, 10, LATENCY, OptionalDouble.of(41.23), OptionalDouble.of(48));
    assertThat(json(result))
        .contains("\"floor_ns\": 41.2,")
        .contains("\"floor_ratio\": 1.22,") // 50.5 over 41.23
        .contains("\"ring_ns\": 48,")
        .contains("\"ring_ratio\": 1.05\n"); // 50.5 over 48
  }

  @Test
  void theRateOfTheBareRingIsWrittenWithThatOfTheMessages() {
    Result result =
        Result.bandwidth(
            SUBJECT, 8, 5, 50e6, OptionalDouble.of(41), OptionalDouble.of(125e6), NONE);
    assertThat(json(result))
        .contains("\"ring_messages_per_s\": 125000000,")
        .contains("\"ring_ratio\": 0.40\n")
        .doesNotContain("ring_ns");
  }

  @Test
  void aBandwidthIsWrittenWithoutAnExponent() {
    Result result =
        Result.bandwidth(SUBJECT, 1 << 20, 5, 12_345.678, NONE, NONE, OptionalDouble.of(3e10));
    assertThat(json(result))
        .contains("\"messages_per_s\": 12345.7,")
        .contains("\"bytes_per_s\": 12945381654.5,")
        .contains("\"memcpy_bytes_per_s\": 30000000000\n")
        .doesNotContain("latency_ns")
        .doesNotContain("ring");
  }

  @Test
  void theNumbersOfConnectionsAndThreadsAreProperties() {
    Subject several = new Subject("sm", "spin", 4, 2);
    Result result = Result.bandwidth(several, 8, 10, 30e6, NONE, NONE, NONE);
    assertThat(ResultJson.properties(List.of(result)).toString())
        .isEqualTo("{\"provider\":\"sm\",\"wait\":\"spin\",\"connections\":4,\"threads\":2}");
    assertThat(several.concurrency()).isEqualTo(", 4 connections, 2 threads");
    assertThat(SUBJECT.concurrency()).isEmpty();
  }

  private static String json(Result result) {
    return Json.format(ResultJson.object(result));
  }

  @Test
  void theTableAlignsItsColumns() {
    Result small = latency(8, 10, LATENCY, OptionalDouble.of(40), OptionalDouble.of(48));
    Result large = latency(1 << 20, 1_000_000, LATENCY, OptionalDouble.of(41), NONE);
    assertThat(ResultTable.format(List.of(small, large)))
        .isEqualTo(
            """
              bytes  messages  min ns   p50   p99  p99.9       max  line ns  ring ns  p50 / line  p50 / ring
                  8        10    45.0  50.5  90.3  120.0  20123456     40.0     48.0        1.26        1.05
            1048576   1000000    45.0  50.5  90.3  120.0  20123456     41.0        -        1.23           -
            """);
  }

  @Test
  void withoutAFloorTheTableAlsoHasP90AndTheMean() {
    assertThat(ResultTable.format(List.of(latency(8, 10, LATENCY, NONE, NONE))))
        .isEqualTo(
            """
            bytes  messages  min ns   p50   p90   p99  p99.9       max  mean
                8        10    45.0  50.5  60.0  90.3  120.0  20123456  61.5
            """);
  }

  private static Result latency(
      int size,
      long messages,
      LatencySummary latency,
      OptionalDouble lineNanos,
      OptionalDouble ringNanos) {
    return Result.latency(SUBJECT, size, messages, latency, lineNanos, ringNanos);
  }

  @Test
  void aRatioIsTheQuotientOfTheTwoFiguresBesideIt() {
    Result result =
        Result.rma(
            SUBJECT,
            "write",
            1000,
            10,
            LATENCY,
            4.16e6,
            new Result.RmaFigures("mmap", "memcpy", 31.19e9));
    String[] lines = ResultTable.format(List.of(result)).split("\n");
    assertThat(lines[0]).endsWith("  bytes/s   floor  floor bytes/s  rate / floor");
    assertThat(lines[1]).endsWith("4.16 G  memcpy        31.19 G          0.13");
    assertThat(json(result)).contains("\"floor_ratio\": 0.13\n");
  }

  @Test
  void aPercentileOfTooFewMessagesIsADashInTheTableAndOmittedFromTheJson() {
    LatencySummary few = new LatencySummary(45, 50, 60, Double.NaN, Double.NaN, 90, 61, 51, 10);
    Result result = latency(8, 10, few, NONE, NONE);
    assertThat(ResultTable.format(List.of(result))).contains("60.0    -      -  90.0");
    assertThat(json(result)).contains("\"p90\": 60,\n").doesNotContain("p99");
  }

  @Test
  void theBandwidthTableHasSuitableUnits() {
    Result small = Result.bandwidth(SUBJECT, 8, 10, 30e6, NONE, NONE, NONE);
    Result large =
        Result.bandwidth(
            SUBJECT, 1 << 20, 10, 5e3, NONE, NONE, OptionalDouble.of(2 * 5e3 * (1 << 20)));
    assertThat(ResultTable.format(List.of(small, large)))
        .isEqualTo(
            """
              bytes  messages  messages/s   bytes/s  memcpy B/s  rate / memcpy
                  8        10     30.00 M  240.00 M
            1048576        10      5.00 k    5.24 G     10.49 G           0.50
            """);
  }

  @Test
  void theBandwidthTableHasTheBareRingAndADashIfTheMessageDoesNotFit() {
    Result small =
        Result.bandwidth(
            SUBJECT, 8, 50_000_000, 30e6, OptionalDouble.of(40), OptionalDouble.of(120e6), NONE);
    Result large =
        Result.bandwidth(
            SUBJECT, 1 << 20, 10, 5e3, OptionalDouble.of(40), NONE, OptionalDouble.of(10e9));
    assertThat(ResultTable.format(List.of(small, large)))
        .isEqualTo(
            """
              bytes  messages  messages/s   bytes/s  memcpy B/s  rate / memcpy  line ns  ring M/s  rate / ring
                  8  50000000     30.00 M  240.00 M                                40.0    120.00         0.25
            1048576        10      5.00 k    5.24 G     10.00 G           0.52     40.0         -            -
            """);
  }

  @Test
  void thePlotHasACurveOfTheBareRing() {
    Result latency = latency(8, 10, LATENCY, OptionalDouble.of(40), OptionalDouble.of(48));
    assertThat(ResultPlot.plot(List.of(latency)).curves())
        .extracting(Plot.Curve::name)
        .containsExactly("p50", "p99", "bare cache line", "bare ring");
    Result rate = Result.bandwidth(SUBJECT, 8, 5, 50e6, NONE, OptionalDouble.of(125e6), NONE);
    assertThat(ResultPlot.plot(List.of(rate)).curves())
        .extracting(curve -> curve.name(), curve -> curve.dots().get(0).y())
        .containsExactly(tuple("ferrule", 400e6), tuple("bare ring", 1e9));
  }
}
