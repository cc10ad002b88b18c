// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The top-level command, which groups the others. */
@Command(
    name = "ferrule",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    description = {
      "Messaging between processes and hosts at the speed of memory or of the network card.",
      ""
    },
    commandListHeading = "%nCommands:%n",
    footer = {
      "",
      "Examples:",
      "  ferrule doctor                        what works here; how to fix the rest",
      "  ferrule listen sm:///tmp/app > copy   in one shell, and in another:",
      "  ferrule send sm:///tmp/app original",
      "  ferrule latency --floor               latency beside a bare cache line",
      "  ferrule evaluate --quick --out here   all measurements, as a page with plots",
      "",
      "'ferrule help COMMAND' shows all options of a command."
    },
    subcommands = {
      ProvidersCommand.class,
      DoctorCommand.class,
      ListenCommand.class,
      SendCommand.class,
      LatencyCommand.class,
      BandwidthCommand.class,
      RmaCommand.class,
      ServeCommand.class,
      EvaluateCommand.class,
      ModelCommand.class,
      LsCommand.class,
      CleanCommand.class,
      CommandLine.HelpCommand.class,
      CmaProbeCommand.class
    })
final class FerruleCommand implements Runnable {

  @Spec private CommandSpec spec;

  @Option(
      names = "--verbose",
      scope = ScopeType.INHERIT,
      description = "Print the stack trace of a failure.")
  boolean verbose;

  @Override
  public void run() {
    CommandLine commandLine = spec.commandLine();
    throw new ParameterException(
        commandLine, "missing command; use one of: " + String.join(", ", visible(commandLine)));
  }

  private static Iterable<String> visible(CommandLine commandLine) {
    return commandLine.getSubcommands().entrySet().stream()
        .filter(entry -> !entry.getValue().getCommandSpec().usageMessage().hidden())
        .map(Map.Entry::getKey)
        .toList();
  }
}
