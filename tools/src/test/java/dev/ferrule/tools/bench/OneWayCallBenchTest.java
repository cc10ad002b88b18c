// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.support.CommandHandshake;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.ToolException;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Calls that are timed in one direction, on connections of sm, which have both directions. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OneWayCallBenchTest {

  private static final int MAX_MESSAGE = 4096;
  private static final int NUMBER = 4711;

  @TempDir private Path folder;

  private final BlockingQueue<String> problems = new LinkedBlockingQueue<>();
  private Listener listener;
  private Thread serving;

  private ConfiguredAddress serve(boolean single) {
    ConnectionOptions options =
        ConnectionOptions.builder()
            .set(StandardOptions.WAIT, WaitStrategy.ADAPTIVE)
            .set("singleReceiver", single ? "on" : "off")
            .build();
    listener = Ferrule.listen(URI.create("sm://" + folder), options);
    BenchServer server =
        new BenchServer(
            listener,
            WaitStrategy.ADAPTIVE,
            Pinning.OFF,
            new ServerLimits(MAX_MESSAGE, true),
            problems::add);
    serving = Thread.ofPlatform().start(single ? server::runSingleReceiver : server::run);
    return new ConfiguredAddress(listener.uri(), options);
  }

  @AfterEach
  void stop() throws InterruptedException {
    if (listener != null) {
      listener.close();
      serving.join();
    }
  }

  private static Connection connect(ConfiguredAddress endpoint, int report) {
    return CommandHandshake.BENCHMARK.connect(
        endpoint.address(), endpoint.options(), new OneWayRequest(NUMBER, report).toBytes());
  }

  @Test
  void theClientTimesSendsAndTheServerReceivesAndFrees() {
    ConfiguredAddress endpoint = serve(false);
    Plan plan = new Plan(List.of(64, 2048), OptionalLong.of(1024), OptionalLong.of(100), 1);
    List<Result> results;
    try (Connections connections = Connections.oneWay(endpoint)) {
      BenchClient client = connections.clients().get(0);
      results =
          new OneWayCallBench(client, new Subject("sm", "adaptive", 1, 1), plan).run(Observer.NONE);
    }
    assertThat(results)
        .extracting(Result::call)
        .containsExactly("send", "receive", "free", "clock", "send", "receive", "free", "clock");
    assertThat(results).extracting(Result::sizeBytes).contains(64, 2048);
    assertThat(results)
        .allSatisfy(result -> {
          assertThat(result.messages()).isEqualTo(1024);
          assertThat(result.latency().p50()).isNotNegative();
          assertThat(result.latency().max()).isPositive();
          assertThat(result.latency().p99()).isBetween(0.0, result.latency().max());
          assertThat(result.latency().p999()).isBetween(0.0, result.latency().max());
        });
    assertThat(ResultTable.format(results).lines())
        .anyMatch(line -> line.matches(" *send +client +64 .*"))
        .anyMatch(line -> line.matches(" *receive +server +64 .*"))
        .anyMatch(line -> line.matches(" *free +server +64 .*"));
    assertThat(problems).isEmpty();
  }

  @Test
  void aReportKeepsPresentAndMissingFigures() {
    LatencySummary receive = new LatencySummary(1, 2, 3, 4, Double.NaN, 6, 7, 8, 9);
    LatencySummary free = new LatencySummary(10, 20, 30, Double.NaN, 50, 60, 70, 80, 0);
    OneWayReport report = new OneWayReport(1L << 40, 3, receive, free);

    assertThat(OneWayReport.of(report.toBytes())).isEqualTo(report);
    assertThat(CommandHandshake.BENCHMARK.payload(report.toBytes())).hasSizeLessThanOrEqualTo(168);
    assertThat(CommandHandshake.BENCHMARK.payload(new OneWayRequest(1, 2).toBytes()))
        .hasSizeLessThanOrEqualTo(28);
  }

  @Test
  void aReportThatNoServerSendsIsAViolationOfTheProtocol() {
    LatencySummary valid = new LatencySummary(1, 2, 3, 4, 5, 6, 7, 8, 9);
    LatencySummary infinite = new LatencySummary(1, 2, 3, 4, 5, Double.POSITIVE_INFINITY, 7, 8, 9);
    LatencySummary missing = new LatencySummary(1, Double.NaN, 3, 4, 5, 6, 7, 8, 9);
    byte[] report = new OneWayReport(10, 0, valid, valid).toBytes();

    assertIsViolation(new byte[0], "the server sent no report");
    assertIsViolation(Arrays.copyOf(report, report.length - 1), "the server sent no report");
    for (OneWayReport invalid :
        List.of(
            new OneWayReport(10, 11, valid, valid),
            new OneWayReport(-1, -1, valid, valid),
            new OneWayReport(10, 0, infinite, valid),
            new OneWayReport(10, 0, valid, missing))) {
      assertIsViolation(invalid.toBytes(), "the server sent an invalid report");
    }
  }

  private static void assertIsViolation(byte[] report, String reason) {
    assertThatThrownBy(() -> OneWayReport.of(report))
        .isInstanceOf(ToolException.class)
        .hasMessage("protocol violation: " + reason);
  }

  @Test
  void anUnknownReportIsRefusedAndTheServerPrintsTheReason() throws InterruptedException {
    ConfiguredAddress endpoint = serve(false);

    assertThatThrownBy(() -> connect(endpoint, 0))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("its error output has the reason");
    assertThat(problems.take()).contains("the report of an unknown round");
  }

  @Test
  void aClientThatSendsGarbageGetsNoReport() throws InterruptedException {
    ConfiguredAddress endpoint = serve(false);
    try (Connection connection = connect(endpoint, OneWayRequest.NONE)) {
      connection.sender().send(MemorySegment.ofArray(new byte[100]));
    }
    assertThat(problems.take()).contains("the client sent no round");

    assertThatThrownBy(() -> connect(endpoint, 0)).isInstanceOf(ToolException.class);
    assertThat(problems.take()).contains("the report of a round that failed");
  }

  @Test
  void messagesThatDifferFromTheAnnouncedOnesAreReported() {
    ConfiguredAddress endpoint = serve(false);
    try (Connection connection = connect(endpoint, OneWayRequest.NONE)) {
      Round.of(Round.Kind.CALLS, 2, 8).send(connection.sender());
      connection.sender().send(MemorySegment.ofArray(new long[] {0}));
      connection.sender().send(MemorySegment.ofArray(new long[] {7}));
    }
    try (Connection connection = connect(endpoint, 0)) {
      OneWayReport report =
          OneWayReport.of(CommandHandshake.BENCHMARK.more(connection.peerPayload()).orElseThrow());
      assertThat(report.messages()).isEqualTo(2);
      assertThat(report.wrong()).isEqualTo(1);
    }
  }

  @Test
  void aServerThatReceivesInOneThreadRejectsTheClient() throws InterruptedException {
    ConfiguredAddress endpoint = serve(true);

    assertThatThrownBy(() -> Connections.oneWay(endpoint))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("its error output has the reason");
    assertThat(problems.take()).contains("one direction");
  }
}
