// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
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
    })
final class FerruleCommand implements Runnable {

  /** The commands, in the order of the help text. */
  private static final List<Map.Entry<String, Class<?>>> COMMANDS =
      List.of(
          Map.entry("providers", ProvidersCommand.class),
          Map.entry("doctor", DoctorCommand.class),
          Map.entry("listen", ListenCommand.class),
          Map.entry("send", SendCommand.class),
          Map.entry("latency", LatencyCommand.class),
          Map.entry("bandwidth", BandwidthCommand.class),
          Map.entry("rma", RmaCommand.class),
          Map.entry("serve", ServeCommand.class));

  /** Those that come after the commands of other modules. */
  private static final List<Map.Entry<String, Class<?>>> LAST_COMMANDS =
      List.of(
          Map.entry("ls", LsCommand.class),
          Map.entry("clean", CleanCommand.class),
          Map.entry("help", CommandLine.HelpCommand.class),
          Map.entry("cma-probe", CmaProbeCommand.class));

  @Spec private CommandSpec spec;

  @Option(
      names = "--verbose",
      scope = ScopeType.INHERIT,
      description = "Print the stack trace of a failure.")
  boolean verbose;

  /**
   * Returns the command line with the command that the first argument names, or else with all of
   * them: to describe each takes as long as the rest of a short command.
   */
  CommandLine commandLine(String... arguments) {
    CommandLine root = new CommandLine(this);
    List<Map.Entry<String, Class<?>>> all = all();
    String first = arguments.length == 0 ? "" : arguments[0];
    boolean isNamed =
        !first.equals("help") && all.stream().anyMatch(command -> command.getKey().equals(first));
    for (Map.Entry<String, Class<?>> command : all) {
      if (!isNamed || command.getKey().equals(first)) {
        root.addSubcommand(command.getKey(), command.getValue());
      }
    }
    return root;
  }

  private static List<Map.Entry<String, Class<?>>> all() {
    List<Map.Entry<String, Class<?>>> all = new ArrayList<>(COMMANDS);
    ServiceLoader.load(Subcommand.class).stream()
        .map(ServiceLoader.Provider::type)
        .forEach(type -> all.add(Map.entry(type.getAnnotation(Command.class).name(), type)));
    all.addAll(LAST_COMMANDS);
    return all;
  }

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
