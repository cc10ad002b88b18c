// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.ServiceLoader;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
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

  private static final Pattern EXAMPLE = Pattern.compile("  ferrule (\\w+)");

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
    if (isVersionOnly(arguments)) {
      return root;
    }
    List<Class<?>> all = all();
    String first = arguments.length == 0 ? "" : arguments[0];
    all.stream()
        .filter(command -> !first.equals("help") && name(command).equals(first))
        .findFirst()
        .<List<Class<?>>>map(List::of)
        .orElse(all)
        .forEach(command -> root.addSubcommand(name(command), command));
    omitExamplesOfOthers(root, all);
    return root;
  }

  /** Returns whether only the version is requested, so that no subcommand is needed. */
  static boolean isVersionOnly(String... arguments) {
    return arguments.length == 1 && List.of("--version", "-V").contains(arguments[0]);
  }

  /** Removes the examples of commands whose module is not on the class path. */
  private static void omitExamplesOfOthers(CommandLine root, List<Class<?>> all) {
    List<String> names = all.stream().map(FerruleCommand::name).toList();
    UsageMessageSpec usage = root.getCommandSpec().usageMessage();
    usage.footer(
        Arrays.stream(usage.footer())
            .filter(line -> {
              Matcher example = EXAMPLE.matcher(line);
              return !example.lookingAt() || names.contains(example.group(1));
            })
            .toArray(String[]::new));
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
            LsCommand.class, TopCommand.class, CleanCommand.class, CommandLine.HelpCommand.class));
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
