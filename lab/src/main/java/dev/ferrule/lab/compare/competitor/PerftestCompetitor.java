// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.competitor;

import dev.ferrule.lab.compare.transport.Mode;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Consumer;

/** A bare RDMA operation, measured by perftest's two programs for that operation. */
public final class PerftestCompetitor implements Competitor {

  private static final double NANOS_PER_MICRO = 1e3;
  private static final double MILLION = 1e6;
  private static final int TYPICAL_COLUMN = 4;
  private static final int P99_COLUMN = 7;
  private static final int RATE_COLUMN = 4;
  private static final int LAT_COLUMNS = 8;
  private static final int BW_COLUMNS = 5;
  private static final int UNACKNOWLEDGED = 64;
  private static final String NO_DEVICE = "no RDMA device with an IPv4 address";
  private static final String WRITE_WITH_IMMEDIATE = "--write_with_imm"; // 6.06 lacks it

  private final String operation;

  /**
   * Creates a competitor, whether or not the programs, such as {@code ib_send_lat}, and a device
   * are available.
   */
  public PerftestCompetitor(String operation) {
    this.operation = operation;
  }

  @Override
  public String name() {
    return operation;
  }

  @Override
  public String version() {
    List<String> version =
        missing().isPresent()
            ? List.of("")
            : Program.version(Map.of(), List.of(latency(), "--version"));
    return "perftest%s, %s and %s -t %s%s"
        .formatted(
            (" " + String.join(" ", version)).stripTrailing(),
            latency(),
            bandwidth(),
            UNACKNOWLEDGED,
            missing().isEmpty() && writesWithImmediate() ? " " + WRITE_WITH_IMMEDIATE : "");
  }

  private String latency() {
    return operation + "_lat";
  }

  private String bandwidth() {
    return operation + "_bw";
  }

  @Override
  public Optional<String> missing() {
    if (!Program.exists(latency()) || !Program.exists(bandwidth())) {
      return Optional.of(latency() + " is not installed (Debian: perftest)");
    }
    return RdmaPort.first().isEmpty() ? Optional.of(NO_DEVICE) : Optional.empty();
  }

  @Override
  public boolean warmsUpItself() {
    return true;
  }

  @Override
  public boolean takesPart(Measure measure) {
    return measure.mode() == Mode.ONE_SENDER;
  }

  @Override
  public BenchmarkRun start(Mode mode, Consumer<String> problems) {
    RdmaPort port =
        RdmaPort.first().orElseThrow(() -> new ToolException(ExitCode.NO_PROVIDER, NO_DEVICE));
    List<String> withImmediate = writesWithImmediate() ? List.of(WRITE_WITH_IMMEDIATE) : List.of();
    return (measure, size, count) -> {
      int batch = measure.batch();
      int rounded = (count + batch - 1) / batch * batch;
      List<String> options = List.of("-s", "" + size, "-n", "" + rounded);
      if (measure.isTime()) {
        return oneWay(size, run(port, latency(), options));
      }
      List<String> all = new ArrayList<>(options);
      all.addAll(List.of("-t", "" + UNACKNOWLEDGED));
      if (batch > 1) {
        all.addAll(List.of("-l", "" + batch));
      }
      all.addAll(withImmediate);
      return Outcome.rate(messagesPerSecond(size, run(port, bandwidth(), all)));
    };
  }

  private boolean writesWithImmediate() {
    return operation.equals("ib_write")
        && Program.version(Map.of(), List.of(bandwidth(), "--help")).stream()
            .anyMatch(line -> line.contains(WRITE_WITH_IMMEDIATE));
  }

  private static List<String> run(RdmaPort device, String program, List<String> options) {
    int port = Program.freePort();
    List<String> server =
        new ArrayList<>(
            List.of(program, "-d", device.device(), "-x", "" + device.gid(), "-p", "" + port));
    server.addAll(options);
    List<String> client = new ArrayList<>(server);
    client.add(device.address());
    return Program.measure(
        Map.of(), port, Program.pinned(false, server), Program.pinned(true, client));
  }

  /** Parses the output of a {@code _lat} program, which halves round trips itself. */
  static Outcome oneWay(int size, List<String> output) {
    List<String> row = row(size, output, LAT_COLUMNS);
    return new Outcome(
        Double.parseDouble(row.get(TYPICAL_COLUMN)) * NANOS_PER_MICRO,
        OptionalDouble.of(Double.parseDouble(row.get(P99_COLUMN)) * NANOS_PER_MICRO));
  }

  /** Parses the output of a {@code _bw} program. */
  static double messagesPerSecond(int size, List<String> output) {
    return Double.parseDouble(row(size, output, BW_COLUMNS).get(RATE_COLUMN)) * MILLION;
  }

  private static List<String> row(int size, List<String> output, int columns) {
    return Program.lastOf(output.stream().map(String::strip).filter(l -> l.startsWith(size + " ")))
        .map(line -> List.of(line.split("\\s+")))
        .filter(row -> row.size() >= columns)
        .orElseThrow(() ->
            new ToolException(
                ExitCode.FAILED, "perftest wrote no result: " + String.join("; ", output)));
  }
}
