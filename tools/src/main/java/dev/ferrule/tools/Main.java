// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.FerruleException;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.spi.PlainText;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.LogLines;
import dev.ferrule.tools.support.Problems;
import dev.ferrule.tools.support.StandardOutput;
import dev.ferrule.tools.support.StatusLine;
import dev.ferrule.tools.support.Terminal;
import dev.ferrule.tools.support.ToolException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The entry point of the {@code ferrule} command: maps arguments to an exit code, and failures to
 * one line.
 */
public final class Main {

  private Main() {}

  /**
   * Runs the command and ends the process.
   *
   * @param arguments the command line
   */
  public static void main(String[] arguments) {
    LogLines.install("ferrule");
    System.exit(
        run(
            new StandardOutput(),
            new PrintWriter(System.err, true),
            FerruleCommand.isVersionOnly(arguments)
                ? Look.PLAIN // the first call into the C library would double the time
                : new Look(Terminal.textWidth(), Terminal.hasColours()),
            arguments));
  }

  /**
   * How help texts are displayed.
   *
   * @param width the maximum width, in columns
   * @param colours whether to use colours
   */
  public record Look(int width, boolean colours) {

    /** Used if the output is not a terminal. */
    public static final Look PLAIN = new Look(80, false);

    /**
     * Applies this to a command and its subcommands.
     *
     * @param commandLine the command
     */
    public void applyTo(CommandLine commandLine) {
      commandLine.setUsageHelpWidth(width);
      commandLine.setHelpFactory(WordWrappedHelp::new);
      commandLine.setColorScheme(Help.defaultColorScheme(colours ? Help.Ansi.ON : Help.Ansi.OFF));
    }
  }

  /**
   * Runs the command within this process.
   *
   * @param out standard output, for text
   * @param err standard error
   * @param arguments the command line
   * @return its exit code
   */
  public static int run(PrintWriter out, PrintWriter err, String... arguments) {
    return run(out, err, Look.PLAIN, arguments);
  }

  static int run(PrintWriter out, PrintWriter err, Look look, String... arguments) {
    FerruleCommand root = new FerruleCommand();
    CommandLine commandLine = root.commandLine(arguments).setOut(out).setErr(err);
    commandLine.setCaseInsensitiveEnumValuesAllowed(true);
    Values.register(commandLine);
    look.applyTo(commandLine);
    commandLine.setParameterExceptionHandler((failure, ignored) -> usage(err, failure));
    commandLine.setExecutionExceptionHandler(
        (failure, command, ignored) -> report(err, root.verbose, failure));
    describe(commandLine);
    int code;
    try {
      code = commandLine.execute(arguments);
    } catch (Error e) {
      code = report(err, root.verbose, e);
    }
    return flush(out, code, err, "ferrule");
  }

  /**
   * Flushes a command's output, and returns its exit code.
   *
   * @param out its standard output
   * @param code its exit code so far
   * @param err receives a line if the output cannot be written
   * @param name the command's name, for that line
   * @return the exit code; that of SIGPIPE, without a message, if the reader has exited
   */
  public static int flush(PrintWriter out, int code, PrintWriter err, String name) {
    if (!out.checkError() || code != ExitCode.OK) {
      return code;
    }
    if (Terminal.isPipe(Terminal.STANDARD_OUTPUT)) {
      return ExitCode.BROKEN_PIPE;
    }
    String reason =
        out instanceof StandardOutput standard
            ? standard.failure().map(text -> ": " + text).orElse("")
            : "";
    err.println(name + ": cannot write to standard output" + reason);
    return ExitCode.FAILED;
  }

  /**
   * {@return the command with its subcommands, for what is generated from their description: man
   * pages and completions}
   */
  public static CommandLine description() {
    CommandLine commandLine = new FerruleCommand().commandLine();
    describe(commandLine);
    return commandLine;
  }

  private static void describe(CommandLine commandLine) {
    UsageMessageSpec usage = commandLine.getCommandSpec().usageMessage();
    usage.exitCodeListHeading("%nExit codes:%n");
    usage.exitCodeList(UsageMessageSpec.keyValuesMap(ExitCode.descriptions()));
    commandLine.getCommandSpec().versionProvider(new VersionProvider());
    commandLine.getSubcommands().values().forEach(Main::describe);
  }

  private static int usage(PrintWriter err, ParameterException failure) {
    CommandLine command = failure.getCommandLine();
    StringBuilder line =
        new StringBuilder("ferrule: ").append(Problems.oneLine(failure.getMessage()));
    if (failure instanceof UnmatchedArgumentException unmatched) {
      String begun = unmatched.getUnmatched().get(0);
      List<String> similar = unmatched.getSuggestions();
      // Names that begin with the text come before names that only share letters with it.
      similar.stream()
          .filter(name -> name.startsWith(begun))
          .findFirst()
          .or(() -> similar.stream().findFirst())
          .ifPresent(name -> line.append("; did you mean ").append(name).append('?'));
    }
    line.append(" (try '").append(command.getCommandSpec().qualifiedName()).append(" --help')");
    err.println(line);
    return ExitCode.USAGE;
  }

  /** Escapes a line of a stack trace, except the tabs that indent it. */
  private static String withTabs(String line) {
    int text = 0;
    while (text < line.length() && line.charAt(text) == '\t') {
      text++;
    }
    return line.substring(0, text) + PlainText.of(line.substring(text));
  }

  private static int report(PrintWriter err, boolean verbose, Throwable failure) {
    if (Guarded.exiting()) {
      return ExitCode.FAILED; // a signal has closed the resources; its exit code counts
    }
    if (verbose) {
      StringWriter trace = new StringWriter();
      failure.printStackTrace(new PrintWriter(trace));
      trace.toString().lines().map(Main::withTabs).forEach(err::println);
    }
    StatusLine.onTerminal().clear();
    boolean expected = failure instanceof FerruleException || failure instanceof ToolException;
    boolean ofOption =
        failure instanceof InvalidOptionException
            || failure.getCause() instanceof InvalidOptionException;
    err.println(
        "ferrule: "
            + (ofOption ? EndpointOptions.source(String.valueOf(failure.getMessage())) : "")
            + (expected
                ? Problems.oneLine(failure.getMessage())
                : "unexpected: "
                    + Problems.oneLine(failure.toString())
                    + (verbose ? "" : " (--verbose shows where)")));
    return ExitCode.of(failure);
  }
}
