// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import java.util.List;

/** The commands of {@link RdmaDiagnosis}. docs/rdma.md lists them with their expected results. */
final class RdmaSteps {

  private static final String PERFTEST = "perftest";
  private static final String IPROUTE = "iproute2 or iproute";

  /** Waits until the server of perftest listens on its TCP port 18515, or has exited. */
  private static final String AWAIT_SERVER =
      "while kill -0 $server 2>/dev/null"
          + " && ! grep -qs ':4853 [0-9A-F]*:0000 0A' /proc/net/tcp /proc/net/tcp6;"
          + " do sleep 0.1; done; ";

  private RdmaSteps() {}

  /** Returns the commands that describe the host. They need no device. */
  static List<DiagnosticStep> ofHost() {
    String system = "uname -srm; ulimit -l";
    return List.of(
        DiagnosticStep.ferrule("version", "--version"),
        DiagnosticStep.ferrule("doctor", "doctor"),
        DiagnosticStep.program("devices", "ibv_devinfo -v", "ibverbs-utils or libibverbs-utils"),
        DiagnosticStep.program("links", "rdma link", IPROUTE),
        DiagnosticStep.program("addresses", "ip address", IPROUTE),
        DiagnosticStep.shell("kernel and limits", system, system, "uname", "coreutils"));
  }

  /** Returns the commands that send messages from a port of a device to itself. */
  static List<DiagnosticStep> on(ActivePort port) {
    String host = " --host " + port.address();
    String sendrecv = " --provider sendrecv" + host;
    String magicring = " --provider magicring" + host;
    String twoSizes = " --size 64,64KiB --rounds 3";
    return List.of(
        DiagnosticStep.ferrule("latency sendrecv", "latency" + sendrecv + " --size 64,4KiB"),
        DiagnosticStep.ferrule("latency magicring", "latency" + magicring + " --size 64,4KiB"),
        DiagnosticStep.ferrule("rate sendrecv", "bandwidth" + sendrecv + twoSizes),
        DiagnosticStep.ferrule("rate magicring", "bandwidth" + magicring + twoSizes),
        DiagnosticStep.ferrule("rma sendrecv", "rma" + sendrecv + twoSizes),
        DiagnosticStep.ferrule("shared receives", "latency" + sendrecv + " --size 64 --srq"),
        DiagnosticStep.ferrule(
            "wait=block", "latency" + sendrecv + " --size 64 --wait block --option pollBatch=1"),
        perftest(port, "ib_send_lat"),
        perftest(port, "ib_send_bw"),
        perftest(port, "ib_write_lat"));
  }

  /**
   * Returns a step with a program of perftest and its server, which is stopped if the client fails.
   */
  private static DiagnosticStep perftest(ActivePort port, String program) {
    String server =
        program
            + (" -d " + port.device() + " -i " + port.number())
            + port.gidIndex().map(index -> " -x " + index).orElse("")
            + " -s 64 -n 5000";
    String client = server + " " + port.address();
    String script =
        server
            + " >/dev/null & server=$!; "
            + AWAIT_SERVER
            + client
            + "; code=$?; [ $code = 0 ] || kill $server; wait; exit $code";
    String text = server + " >/dev/null & sleep 1; " + client;
    return DiagnosticStep.shell(program, text, script, program, PERFTEST);
  }
}
