// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import picocli.CommandLine;

/** The command line {@code ferrule} as {@link Main} parses it, without running it. */
public final class ParsedCommand {

  private ParsedCommand() {}

  /** Parses arguments, and returns the command line; throws what picocli throws. */
  public static CommandLine of(String... arguments) {
    CommandLine commandLine = configure(new FerruleCommand().commandLine(arguments));
    commandLine.parseArgs(arguments);
    return commandLine;
  }

  /** Lets a command line read values as those of {@code ferrule}, and returns it. */
  public static CommandLine configure(CommandLine commandLine) {
    commandLine.setCaseInsensitiveEnumValuesAllowed(true);
    Values.register(commandLine);
    return commandLine;
  }
}
