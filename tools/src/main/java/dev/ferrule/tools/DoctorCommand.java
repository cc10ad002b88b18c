// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.ferrule.Ferrule;
import dev.ferrule.tools.doctor.Doctor;
import dev.ferrule.tools.doctor.Finding;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Json;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Reports what works on this machine. */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    description = {
      "Checks what each transport needs on this machine, and prints how to fix what is missing."
          + " Exits with 0 if at least one transport works, and with 6 if none does.",
      ""
    },
    footer = {
      "",
      "Example: ferrule doctor --json | jq -r '.[] | select(.status != \"ok\") | .fix'"
    })
final class DoctorCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Option(names = "--json", description = "Write JSON.")
  private boolean json;

  @Override
  public Integer call() {
    List<Finding> findings = Doctor.examine();
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.print(toJson(findings));
    } else {
      findings.forEach(finding -> print(out, finding));
    }
    boolean works =
        Ferrule.providers().stream().anyMatch(provider -> provider.availability().available());
    if (!json && !works) {
      out.println("no transport works on this machine");
    }
    return works ? ExitCode.OK : ExitCode.NO_PROVIDER;
  }

  private static void print(PrintWriter out, Finding finding) {
    out.printf("%-7s  %-18s  %s%n", finding.status(), finding.name(), finding.text());
    if (!finding.fix().isEmpty()) {
      out.printf("%-7s  %-18s  fix: %s%n", "", "", finding.fix());
    }
  }

  private static String toJson(List<Finding> findings) {
    JsonArray array = new JsonArray();
    for (Finding finding : findings) {
      JsonObject object = new JsonObject();
      object.addProperty("name", finding.name());
      object.addProperty("status", finding.status().toString());
      object.addProperty("text", finding.text());
      object.addProperty("fix", finding.fix().isEmpty() ? null : finding.fix());
      array.add(object);
    }
    return Json.format(array);
  }
}
