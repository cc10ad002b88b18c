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

/** UCX's active messages over shared memory, measured by UCX's own {@code ucx_perftest}. */
public final class UcxCompetitor implements Competitor {

  private static final String PROGRAM = "ucx_perftest";
  private static final String TRANSPORTS = "posix,sysv,self";
  private static final Map<String, String> ENVIRONMENT =
      Map.of("UCX_TLS", TRANSPORTS, "UCX_WARN_UNUSED_ENV_VARS", "n", "UCX_LOG_LEVEL", "error");
  private static final double NANOS_PER_MICRO = 1e3;

  /** The program's wait mode. */
  private static final String POLL = "poll";

  private static final String SLEEP = "sleep";

  @Override
  public String name() {
    return "ucx";
  }

  @Override
  public String version() {
    String version =
        Program.exists("ucx_info")
            ? Program.output(ENVIRONMENT, List.of("ucx_info", "-v")).get(0)
            : "";
    return "UCX %s, ucp_am_lat and ucp_am_bw, -E %s for wake-up, UCX_TLS=%s"
        .formatted(version.replaceAll("[^0-9.]", ""), SLEEP, TRANSPORTS);
  }

  @Override
  public Optional<String> missing() {
    return Program.exists(PROGRAM)
        ? Optional.empty()
        : Optional.of(PROGRAM + " is not installed (Debian: ucx-utils)");
  }

  @Override
  public boolean warmsUpItself() {
    return true;
  }

  /**
   * Returns false for several senders, as each thread of {@code ucx_perftest} has its own
   * connection, which is another measure. UCX has no call for batches: as batches it sends single
   * messages.
   */
  @Override
  public boolean takesPart(Measure measure) {
    return measure.mode() != Mode.SEVERAL_SENDERS;
  }

  @Override
  public BenchmarkRun start(Mode mode, Consumer<String> problems) {
    // both sides of a wake-up sleep until a message arrives: half a round trip includes one wake-up
    return (measure, size, count) ->
        switch (measure) {
          case LATENCY -> oneWay(run("ucp_am_lat", POLL, size, count));
          case WAKE_UP -> oneWay(run("ucp_am_lat", SLEEP, size, count));
          default -> Outcome.rate(messagesPerSecond(run("ucp_am_bw", POLL, size, count)));
        };
  }

  private static List<String> run(String test, String wait, int size, int count) {
    int port = Program.freePort();
    List<String> server = List.of(PROGRAM, "-p", "" + port);
    List<String> client = new ArrayList<>(server);
    client.addAll(List.of("-t", test, "-E", wait, "-s", "" + size, "-n", "" + count));
    client.addAll(List.of("-f", "-v", "127.0.0.1"));
    return Program.measure(
        ENVIRONMENT, port, Program.pinned(false, server), Program.pinned(true, client));
  }

  /** Parses the output of {@code ucp_am_lat -f -v}, which halves round trips itself. */
  static Outcome oneWay(List<String> output) {
    return new Outcome(
        column(output, "50.0_percentile_lat") * NANOS_PER_MICRO, OptionalDouble.empty());
  }

  /** Parses the output of {@code ucp_am_bw -f -v}. */
  static double messagesPerSecond(List<String> output) {
    return column(output, "overall_mr");
  }

  /** Returns a column of the last line, by its name in the heading. */
  private static double column(List<String> output, String name) {
    List<List<String>> rows =
        output.stream()
            .filter(line -> line.contains(","))
            .map(line -> List.of(line.split(",")))
            .toList();
    int index = rows.isEmpty() ? -1 : rows.get(0).indexOf(name);
    List<String> last = rows.isEmpty() ? List.of() : rows.get(rows.size() - 1);
    if (rows.size() < 2 || index < 0 || index >= last.size()) {
      throw new ToolException(
          ExitCode.FAILED, PROGRAM + " wrote no " + name + ": " + String.join("; ", output));
    }
    return Double.parseDouble(last.get(index));
  }
}
