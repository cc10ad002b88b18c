// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import com.google.gson.JsonObject;
import dev.ferrule.Ferrule;
import dev.ferrule.tools.doctor.Doctor;
import dev.ferrule.tools.doctor.Finding;
import dev.ferrule.tools.doctor.RdmaDiagnosis;
import dev.ferrule.tools.support.ExitCode;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Reports what works on this machine. */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    description = {
      "Checks what each transport needs on this machine, and prints how to fix each problem."
          + " Exits with 0 if at least one transport works, and with 6 if none does.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  ferrule doctor --rdma        on a host with an RDMA card",
      "  ferrule doctor --json | jq -r '.results[] | select(.status != \"ok\") | .fix'"
    })
final class DoctorCommand implements Callable<Integer> {

  private static final Path DEFAULT_REPORT = Path.of("ferrule-rdma-report.txt");

  @Spec private CommandSpec spec;

  @Option(names = "--json", description = "Write JSON, as docs/json.md specifies.")
  private boolean json;

  @Option(
      names = "--rdma",
      description =
          "Run the commands that docs/rdma.md lists for a first test of RDMA hardware, on the"
              + " first device that works, and write their output to one file, to be sent with an"
              + " issue."
              + " Takes a minute or two on a card. Exits with 0 if no command failed, and with 6"
              + " if a command failed or no device works.")
  private boolean rdma;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description =
          "The file that --rdma writes. Default: ferrule-rdma-report.txt. An existing file is"
              + " replaced only if it is an earlier report.")
  private @Nullable Path report;

  @Override
  public Integer call() {
    if (rdma && json || !rdma && report != null) {
      throw new ParameterException(
          spec.commandLine(), "--out needs --rdma, and --json is not supported with --rdma");
    }
    if (rdma) {
      return diagnoseRdma();
    }
    Instant start = Instant.now();
    List<Finding> findings = Doctor.examine();
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.print(toJson(start, findings));
    } else {
      findings.forEach(finding -> finding.lines().forEach(out::println));
    }
    boolean works =
        Ferrule.providers().stream().anyMatch(provider -> provider.availability().available());
    if (!json && !works) {
      out.println("no transport works on this machine");
    }
    return works ? ExitCode.OK : ExitCode.NO_PROVIDER;
  }

  private int diagnoseRdma() {
    PrintWriter out = spec.commandLine().getOut();
    boolean passed =
        RdmaDiagnosis.run(
            report == null ? DEFAULT_REPORT : report,
            line -> {
              out.println(line);
              out.flush();
            });
    return passed ? ExitCode.OK : ExitCode.NO_PROVIDER;
  }

  static String toJson(Instant start, List<Finding> findings) {
    JsonDocument document = new JsonDocument("ferrule.doctor/1", start);
    for (Finding finding : findings) {
      JsonObject object = new JsonObject();
      object.addProperty("name", finding.name());
      object.addProperty("status", finding.status().toString());
      object.addProperty("text", finding.text());
      object.addProperty("fix", finding.fix().isEmpty() ? null : finding.fix());
      document.results().add(object);
    }
    return document.format();
  }
}
