// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.tools.support.ChildProcess;
import java.util.List;

/**
 * A command of {@link RdmaDiagnosis}.
 *
 * @param name a few words, for the list of results
 * @param text the command as a user would type it
 * @param command the program and arguments that are executed
 * @param program the program that the step needs; if it is not installed, the step is skipped
 * @param packageName the package that contains the program
 */
record DiagnosticStep(
    String name, String text, List<String> command, String program, String packageName) {

  /** Returns a step that runs {@code ferrule} in a child process. */
  static DiagnosticStep ferrule(String name, String arguments) {
    List<String> command = ChildProcess.commandLine(words(arguments));
    return new DiagnosticStep(name, "ferrule " + arguments, command, command.get(0), "a JDK");
  }

  /** Returns a step that runs a program of the system. */
  static DiagnosticStep program(String name, String text, String packageName) {
    List<String> command = words(text);
    return new DiagnosticStep(name, text, command, command.get(0), packageName);
  }

  /** Returns a step that runs a shell script, which uses a program. */
  static DiagnosticStep shell(
      String name, String text, String script, String program, String packageName) {
    return new DiagnosticStep(name, text, List.of("sh", "-c", script), program, packageName);
  }

  private static List<String> words(String text) {
    return List.of(text.split(" "));
  }
}
