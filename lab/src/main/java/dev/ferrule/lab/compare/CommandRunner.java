// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import dev.ferrule.tools.Main;
import dev.ferrule.tools.Values;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.LogLines;
import dev.ferrule.tools.support.Problems;
import dev.ferrule.tools.support.Terminal;
import dev.ferrule.tools.support.ToolException;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/**
 * Runs the commands of this module like those of {@code ferrule}: a usage error is reported in one
 * line.
 */
public final class CommandRunner {

  private CommandRunner() {}

  /**
   * Returns the elements of {@code all} that the option {@code --only} names; all without that
   * option.
   */
  public static <T> List<T> chosen(
      CommandSpec spec, @Nullable List<String> only, List<T> all, Function<T, String> name) {
    if (only == null) {
      return all;
    }
    List<String> names = all.stream().map(name).toList();
    for (String each : only) {
      if (!names.contains(each)) {
        throw new ParameterException(
            spec.commandLine(),
            "--only: unknown " + each + "; choose from " + String.join(", ", names));
      }
    }
    return all.stream().filter(one -> only.contains(name.apply(one))).toList();
  }

  public static void exit(Object command, String name, String program, String... arguments) {
    LogLines.install(name);
    System.exit(
        run(
            command,
            name,
            program,
            new PrintWriter(System.out, true),
            new PrintWriter(System.err, true),
            new Main.Look(Terminal.textWidth(), Terminal.hasColours()),
            arguments));
  }

  /**
   * Runs a command within this process and returns its exit code. Error lines begin with the name;
   * {@code program} is the command line with which a user runs it.
   */
  public static int run(
      Object command,
      String name,
      String program,
      PrintWriter out,
      PrintWriter err,
      Main.Look look,
      String... arguments) {
    CommandLine commandLine = new CommandLine(command).setOut(out).setErr(err);
    Values.register(commandLine);
    look.applyTo(commandLine);
    commandLine.setCaseInsensitiveEnumValuesAllowed(true);
    commandLine.setParameterExceptionHandler((failure, ignored) -> {
      Problems.print(err, name, failure.getMessage() + " (try '" + program + " --help')");
      return ExitCode.USAGE;
    });
    commandLine.setExecutionExceptionHandler((failure, ignored, result) -> {
      boolean expected = failure instanceof ToolException;
      Problems.print(err, name, expected ? failure.getMessage() : failure.toString());
      return ExitCode.of(failure);
    });
    return Main.flush(out, commandLine.execute(arguments), err, name);
  }
}
