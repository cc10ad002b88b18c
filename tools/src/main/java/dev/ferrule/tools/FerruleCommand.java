// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
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
      "  ferrule doctor                        what works here, and how to fix the rest",
      "  ferrule listen sm:///tmp/app > copy   in one shell, and in another:",
      "  ferrule send sm:///tmp/app original",
      "  ferrule latency --floor               latency beside a bare cache line",
      "  ferrule evaluate --quick --out here   all measurements, as a page with plots",
      "",
      "'ferrule help COMMAND' shows all options of a command."
    })
final class FerruleCommand implements Runnable {

  @Spec private CommandSpec spec;

  @Option(
      names = "--verbose",
      scope = ScopeType.INHERIT,
      description = "Print the stack trace of a failure.")
  boolean verbose;

  /**
   * Returns a command line with only the subcommand that the first argument names, or with all
   * subcommands if it names none. Describing all of them takes as long as the rest of a short
   * command.
   */
  CommandLine commandLine(String... arguments) {
    CommandLine root = new CommandLine(this);
    List<Class<?>> all = all();
    String first = arguments.length == 0 ? "" : arguments[0];
    all.stream()
        .filter(command -> !first.equals("help") && name(command).equals(first))
        .findFirst()
        .<List<Class<?>>>map(List::of)
        .orElse(all)
        .forEach(command -> root.addSubcommand(name(command), command));
    return root;
  }

  private static String name(Class<?> command) {
    return command.getAnnotation(Command.class).name();
  }

  /** Returns all commands, including those of other modules, in the order of the help text. */
  private static List<Class<?>> all() {
    List<Class<?>> all =
        new ArrayList<>(
            List.of(
                ProvidersCommand.class,
                DoctorCommand.class,
                ListenCommand.class,
                SendCommand.class,
                LatencyCommand.class,
                BandwidthCommand.class,
                RmaCommand.class,
                ServeCommand.class));
    ServiceLoader.load(Subcommand.class).stream()
        .map(ServiceLoader.Provider::type)
        .forEach(all::add);
    all.addAll(
        List.of(
            LsCommand.class,
            TopCommand.class,
            CleanCommand.class,
            CommandLine.HelpCommand.class,
            CmaProbeCommand.class));
    return all;
  }

  @Override
  public void run() {
    String names =
        spec.subcommands().values().stream()
            .map(CommandLine::getCommandSpec)
            .filter(command -> !command.usageMessage().hidden())
            .map(CommandSpec::name)
            .collect(Collectors.joining(", "));
    throw new ParameterException(spec.commandLine(), "missing command; use one of: " + names);
  }
}
