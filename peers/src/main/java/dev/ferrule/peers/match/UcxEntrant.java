// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.match;

import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Consumer;

/** UCX's active messages over shared memory, by UCX's own {@code ucx_perftest}. */
public final class UcxEntrant implements Entrant {

  private static final String PROGRAM = "ucx_perftest";
  private static final String TRANSPORTS = "posix,sysv,self";
  private static final Map<String, String> ENVIRONMENT =
      Map.of("UCX_TLS", TRANSPORTS, "UCX_WARN_UNUSED_ENV_VARS", "n", "UCX_LOG_LEVEL", "error");
  private static final double NANOS_PER_MICRO = 1e3;

  /** Makes an entrant, whether or not the program is here. */
  public UcxEntrant() {}

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
    return "UCX "
        + version.replaceAll("[^0-9.]", "")
        + ", ucp_am_lat and ucp_am_bw, UCX_TLS="
        + TRANSPORTS;
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

  @Override
  public Match start(Consumer<String> problems) {
    return new Runs();
  }

  private static final class Runs implements Match {

    @Override
    public OneWay oneWay(int size, int count) {
      return UcxEntrant.oneWay(run("ucp_am_lat", size, count));
    }

    @Override
    public double messagesPerSecond(int size, long count) {
      return UcxEntrant.messagesPerSecond(run("ucp_am_bw", size, count));
    }

    private static List<String> run(String test, int size, long count) {
      int port = Program.freePort();
      return Program.measure(
          ENVIRONMENT,
          port,
          Program.pinned(false, List.of(PROGRAM, "-p", "" + port)),
          Program.pinned(
              true,
              List.of(
                  PROGRAM,
                  "-p",
                  "" + port,
                  "-t",
                  test,
                  "-s",
                  "" + size,
                  "-n",
                  "" + count,
                  "-f",
                  "-v",
                  "127.0.0.1")));
    }

    @Override
    public void close() {
      // every run has ended its processes
    }
  }

  /** Reads the output of {@code ucp_am_lat -f -v}, which halves round trips itself. */
  static OneWay oneWay(List<String> output) {
    return new OneWay(
        column(output, "50.0_percentile_lat") * NANOS_PER_MICRO, OptionalDouble.empty());
  }

  /** Reads the output of {@code ucp_am_bw -f -v}. */
  static double messagesPerSecond(List<String> output) {
    return column(output, "overall_mr");
  }

  /** Finds a column of the last line by its name in the heading. */
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
