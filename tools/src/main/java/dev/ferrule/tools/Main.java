// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.FerruleException;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.ToolException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Where the {@code ferrule} command starts: turns arguments into an exit code and failures into one
 * line.
 */
public final class Main {

  private static final int USAGE_WIDTH = 100;

  private Main() {}

  /**
   * Runs the command and ends the process.
   *
   * @param arguments the command line
   */
  public static void main(String[] arguments) {
    System.exit(run(new PrintWriter(System.out), new PrintWriter(System.err, true), arguments));
  }

  /** Runs the command and returns its exit code. */
  static int run(PrintWriter out, PrintWriter err, String... arguments) {
    FerruleCommand root = new FerruleCommand();
    CommandLine commandLine = new CommandLine(root).setOut(out).setErr(err);
    commandLine.setCaseInsensitiveEnumValuesAllowed(true);
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
    if (out.checkError() && code == ExitCode.OK) {
      err.println("ferrule: cannot write to standard output");
      return ExitCode.FAILED;
    }
    return code;
  }

  private static void describe(CommandLine commandLine) {
    UsageMessageSpec usage = commandLine.getCommandSpec().usageMessage();
    usage.width(USAGE_WIDTH);
    usage.exitCodeListHeading("%nExit codes:%n");
    usage.exitCodeList(exitCodes());
    commandLine.getCommandSpec().versionProvider(new VersionProvider());
    commandLine.getSubcommands().values().forEach(Main::describe);
  }

  private static Map<String, String> exitCodes() {
    Map<String, String> codes = new LinkedHashMap<>();
    codes.put("0", "all went well");
    codes.put("1", "a failure that has no code of its own, such as a file that cannot be read");
    codes.put("2", "the command line is wrong: an option, a value, an address");
    codes.put(
        "3",
        "no connection: nobody listens, or the listener said no, did not answer or is another"
            + " version");
    codes.put("4", "the connection ended too early: the peer died or closed it");
    codes.put(
        "5",
        "the system lacks a resource: shared memory is full, a limit is reached, the address is"
            + " taken");
    codes.put(
        "6", "there is no provider for the address, or it cannot work here (see 'ferrule doctor')");
    codes.put("130, 143", "ended by SIGINT (Ctrl-C), SIGTERM");
    return codes;
  }

  private static int usage(PrintWriter err, ParameterException failure) {
    CommandLine command = failure.getCommandLine();
    StringBuilder line = new StringBuilder("ferrule: ").append(oneLine(failure.getMessage()));
    if (failure instanceof UnmatchedArgumentException unmatched) {
      List<String> similar = unmatched.getSuggestions();
      if (!similar.isEmpty()) {
        line.append("; did you mean ").append(String.join(" or ", similar)).append('?');
      }
    }
    line.append(" (try '").append(command.getCommandSpec().qualifiedName()).append(" --help')");
    err.println(line);
    return ExitCode.USAGE;
  }

  private static int report(PrintWriter err, boolean verbose, Throwable failure) {
    if (Guarded.exiting()) {
      return ExitCode
          .FAILED; // a signal has closed everything under our feet; its own exit code counts
    }
    if (verbose) {
      failure.printStackTrace(err);
    }
    boolean expected = failure instanceof FerruleException || failure instanceof ToolException;
    err.println(
        "ferrule: "
            + (expected
                ? oneLine(failure.getMessage())
                : "unexpected: "
                    + oneLine(failure.toString())
                    + (verbose ? "" : " (--verbose shows where)")));
    return ExitCode.of(failure);
  }

  private static String oneLine(String message) {
    return String.valueOf(message).strip().replaceAll("\\s*\\R\\s*", " ");
  }
}
