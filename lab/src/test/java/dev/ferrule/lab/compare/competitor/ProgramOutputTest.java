// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.competitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The first sample is output of UCX 1.13.1, the others have the format of perftest 4.5. */
class ProgramOutputTest {

  private static final String UCX =
      """
      iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
      100000,0.185,1.944,1.947,31.40,31.41,514495,514499
      """;

  private static final String LATENCY =
      """
       local address: LID 0000 QPN 0x0012 PSN 0x3d1a2f
      ---------------------------------------------------------------------------------------
       #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]
       64      5000          8.72           130.55       10.13              11.02          3.31            24.60                  60.05
      ---------------------------------------------------------------------------------------
      """;

  private static final String BANDWIDTH =
      """
       #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
       64         20000            3.61               3.54               0.058034
      """;

  @TempDir Path directory;

  @Test
  void theMedianAndTheRateOfUcxAreRead() {
    List<String> output = UCX.lines().toList();
    Outcome oneWay = UcxCompetitor.oneWay(output);
    assertThat(oneWay.value()).isEqualTo(185);
    assertThat(oneWay.p99Nanos()).isEmpty();
    assertThat(UcxCompetitor.messagesPerSecond(output)).isEqualTo(514_499);
  }

  @Test
  void anotherOutputOfUcxIsAFailureThatShowsIt() {
    assertThatThrownBy(() -> UcxCompetitor.oneWay(List.of("no route to host")))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("no route to host");
  }

  @Test
  void typicalLatencyTailAndRateOfPerftestAreRead() {
    Outcome oneWay = PerftestCompetitor.oneWay(64, LATENCY.lines().toList());
    assertThat(oneWay.value()).isEqualTo(10_130);
    assertThat(oneWay.p99Nanos()).hasValue(24_600);
    assertThat(PerftestCompetitor.messagesPerSecond(64, BANDWIDTH.lines().toList()))
        .isEqualTo(58_034);
  }

  @Test
  void anotherOutputOfPerftestIsAFailureThatShowsIt() {
    assertThatThrownBy(
            () -> PerftestCompetitor.messagesPerSecond(64, List.of("Couldn't connect to 10.0.0.1")))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("Couldn't connect to 10.0.0.1");
  }

  @Test
  void theVersionOfAProgramThatExitsWithAFailureIsRead() {
    List<String> command = List.of("sh", "-c", "echo Version: 6.06; exit 1"); // as ib_send_lat does
    assertThat(Program.version(Map.of(), command)).containsExactly("Version: 6.06");
    assertThatThrownBy(() -> Program.output(Map.of(), command)).isInstanceOf(ToolException.class);
  }

  /** The output of ib_send_bw if its server exits first: the row is not terminated yet. */
  @Test
  void errorOutputIsNotMistakenForResults() {
    String script = "printf ' 64 20000 3.61 3.54 0.058034'; echo 'ethernet_read_keys: no' >&2";
    List<String> output = Program.output(Map.of(), List.of("sh", "-c", script));
    assertThat(PerftestCompetitor.messagesPerSecond(64, output)).isEqualTo(58_034);
    assertThatThrownBy(
            () -> Program.output(Map.of(), List.of("sh", "-c", script + "; echo bad >&2; exit 1")))
        .isInstanceOf(ToolException.class)
        .hasMessageEndingWith(": bad");
  }

  @Test
  void thePortForPerftestIsTheFirstWithAnIpv4Address() throws IOException {
    Path port = directory.resolve("rxe0/ports/1");
    Files.createDirectories(port.resolve("gids"));
    Files.createDirectories(port.resolve("gid_attrs/types"));
    Files.writeString(port.resolve("gids/0"), "fe80:0000:0000:0000:5054:00ff:fe12:3456\n");
    Files.writeString(port.resolve("gids/1"), "0000:0000:0000:0000:0000:ffff:0a00:020f\n");
    for (String index : List.of("0", "1")) {
      Files.writeString(port.resolve("gid_attrs/types").resolve(index), "RoCE v2\n");
    }
    assertThat(RdmaPort.first(directory)).contains(new RdmaPort("rxe0", 1, "10.0.2.15"));
    assertThat(RdmaPort.first(directory.resolve("nothing"))).isEmpty();
  }
}
