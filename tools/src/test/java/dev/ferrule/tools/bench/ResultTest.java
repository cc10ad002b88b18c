// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class ResultTest {

  private static final Subject SUBJECT = new Subject("sm", "spin");
  private static final LatencySummary LATENCY =
      new LatencySummary(45, 50.5, 60, 90.25, 120, 20_123_456, 61.54321, 51, 10);

  @Test
  void aLatencyIsWrittenWithTheNamesThatAreDocumentedAndWithoutWhatWasNotMeasured() {
    Result result = Result.latency(SUBJECT, 64, 1_000_000, LATENCY, OptionalDouble.empty());
    assertThat(ResultJson.format(List.of(result)))
        .isEqualTo(
            """
            [
              {
                "provider": "sm",
                "command": "latency",
                "wait": "spin",
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
            ]
            """);
  }

  @Test
  void theFloorIsWrittenIfItWasMeasured() {
    Result result = Result.latency(SUBJECT, 64, 10, LATENCY, OptionalDouble.of(41.23));
    assertThat(ResultJson.format(List.of(result)))
        .contains("\"floor_ns\": 41.2,")
        .contains("\"floor_ratio\": 1.22\n"); // 50.5 over 41.23
  }

  @Test
  void aBandwidthIsWrittenWithoutAnExponent() {
    Result result =
        Result.bandwidth(
            SUBJECT, 1 << 20, 5, 12_345.678, OptionalDouble.empty(), OptionalDouble.of(3e10));
    assertThat(ResultJson.format(List.of(result)))
        .contains("\"messages_per_s\": 12345.7,")
        .contains("\"bytes_per_s\": 12945381654.5,")
        .contains("\"memcpy_bytes_per_s\": 30000000000\n")
        .doesNotContain("latency_ns");
  }

  @Test
  void severalConnectionsAndThreadsAreWrittenAndOneOfEachIsNot() {
    assertThat(written(new Subject("sm", "spin", 4, 2)))
        .contains("\"connections\": 4,")
        .contains("\"threads\": 2,");
    assertThat(written(new Subject("sm", "spin", 4, 1)))
        .contains("\"connections\": 4,")
        .doesNotContain("threads");
    assertThat(written(SUBJECT)).doesNotContain("connections").doesNotContain("threads");
    assertThat(new Subject("sm", "spin", 4, 2).crowd()).isEqualTo(", 4 connections, 2 threads");
    assertThat(SUBJECT.crowd()).isEmpty();
  }

  private static String written(Subject subject) {
    return ResultJson.format(
        List.of(
            Result.bandwidth(
                subject, 8, 10, 30e6, OptionalDouble.empty(), OptionalDouble.empty())));
  }

  @Test
  void theTableAlignsItsColumns() {
    Result small = Result.latency(SUBJECT, 8, 10, LATENCY, OptionalDouble.of(40));
    Result large = Result.latency(SUBJECT, 4096, 1_000_000, LATENCY, OptionalDouble.of(41));
    assertThat(ResultTable.format(List.of(small, large)))
        .isEqualTo(
            """
            bytes  messages  min ns   p50   p90   p99  p99.9       max  mean  floor ns  p50 / floor
                8        10    45.0  50.5  60.0  90.3  120.0  20123456  61.5      40.0         1.26
             4096   1000000    45.0  50.5  60.0  90.3  120.0  20123456  61.5      41.0         1.23
            """);
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
    assertThat(ResultJson.format(List.of(result))).contains("\"floor_ratio\": 0.13\n");
  }

  @Test
  void whatTooFewMessagesWereMeasuredForIsADashInTheTableAndLeftOutOfTheJson() {
    LatencySummary few = new LatencySummary(45, 50, 60, Double.NaN, Double.NaN, 90, 61, 51, 10);
    Result result = Result.latency(SUBJECT, 8, 10, few, OptionalDouble.empty());
    assertThat(ResultTable.format(List.of(result))).contains("60.0    -      -  90.0");
    assertThat(ResultJson.format(List.of(result))).contains("\"p90\": 60,\n").doesNotContain("p99");
  }

  @Test
  void theTableOfBandwidthsHasUnitsThatFit() {
    Result small =
        Result.bandwidth(SUBJECT, 8, 10, 30e6, OptionalDouble.empty(), OptionalDouble.empty());
    Result large =
        Result.bandwidth(
            SUBJECT,
            1 << 20,
            10,
            5e3,
            OptionalDouble.empty(),
            OptionalDouble.of(2 * 5e3 * (1 << 20)));
    assertThat(ResultTable.format(List.of(small, large)))
        .isEqualTo(
            """
              bytes  messages  messages/s   bytes/s  memcpy bytes/s  rate / memcpy
                  8        10     30.00 M  240.00 M
            1048576        10      5.00 k    5.24 G         10.49 G           0.50
            """);
  }
}
