// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A {@code ferrule} process as a shell would start it, with files for its standard streams. */
final class FerruleProcess implements AutoCloseable {

  private static final int TIMEOUT_SECONDS = 60;

  private final Process process;
  private final Path errors;

  private FerruleProcess(Process process, Path errors) {
    this.process = process;
    this.errors = errors;
  }

  /** Starts a process with a pipe to its standard input and from its standard output. */
  static FerruleProcess start(Path folder, String... arguments) throws IOException {
    return start(new ProcessBuilder(), Main.class, folder, arguments);
  }

  /** Starts another program than the command, with pipes. */
  static FerruleProcess startProgram(Class<?> program, Path folder, String... arguments)
      throws IOException {
    return start(new ProcessBuilder(), program, folder, arguments);
  }

  /** Starts the command, with pipes, on a JVM with an option. */
  static FerruleProcess startWith(String jvmOption, Path folder, String... arguments)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder();
    builder.environment().put("JDK_JAVA_OPTIONS", jvmOption);
    return start(builder, Main.class, folder, arguments);
  }

  /** Starts a process that writes its standard output to a file. */
  static FerruleProcess startInto(Path output, String... arguments) throws IOException {
    ProcessBuilder builder = new ProcessBuilder().redirectOutput(output.toFile());
    return start(builder, Main.class, output.getParent(), arguments);
  }

  /** Starts a process that reads its standard input from a file. */
  static FerruleProcess startFrom(Path input, String... arguments) throws IOException {
    ProcessBuilder builder = new ProcessBuilder().redirectInput(input.toFile());
    return start(builder, Main.class, input.getParent(), arguments);
  }

  /** Starts a process with a standard stream closed or redirected as a shell does it. */
  static FerruleProcess startRedirected(Path folder, String redirection, String... arguments)
      throws IOException {
    List<String> shell = List.of("sh", "-c", "exec \"$@\" " + redirection, "sh");
    return start(new ProcessBuilder(), shell, Main.class, folder, arguments);
  }

  /** Starts a process on a terminal, whose text is its output; both streams go there. */
  static FerruleProcess startOnTerminal(Path folder, String arguments) throws IOException {
    List<String> shell =
        List.of(
            "sh",
            "-c",
            "exec env --default-signal=INT" // a test run in the background ignores it
                + " script --quiet --return --flush --command \"$(printf \"'%s' \" \"$@\")\" /dev/null",
            "sh");
    return start(new ProcessBuilder(), shell, Main.class, folder, arguments.split(" "));
  }

  /** Does what Ctrl-C does to those that this process has started. */
  void interruptDescendants() throws Exception {
    for (ProcessHandle child : process.descendants().toList()) {
      new ProcessBuilder("kill", "-INT", Long.toString(child.pid())).start().waitFor();
    }
  }

  private static FerruleProcess start(
      ProcessBuilder builder, Class<?> program, Path folder, String... arguments)
      throws IOException {
    return start(builder, List.of(), program, folder, arguments);
  }

  private static FerruleProcess start(
      ProcessBuilder builder,
      List<String> prefix,
      Class<?> program,
      Path folder,
      String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED", "--class-path"));
    command.add(System.getProperty("java.class.path"));
    command.add(program.getName());
    command.addAll(List.of(arguments));
    Path errors = Files.createTempFile(folder, "errors-", ".txt");
    return new FerruleProcess(
        builder.command(command).redirectError(errors.toFile()).start(), errors);
  }

  Process process() {
    return process;
  }

  BufferedReader output() {
    return process.inputReader();
  }

  /** Waits until the process has ended by itself. */
  FerruleProcess mustEndWith(int exitCode) throws Exception {
    assertThat(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).as("ended in time").isTrue();
    assertThat(process.exitValue()).as("exit code, having said '%s'", errors()).isEqualTo(exitCode);
    return this;
  }

  String errors() throws IOException {
    return Files.readString(errors);
  }

  /**
   * Asks the process to end, as {@code kill} does. Unlike {@code Process.destroy} it leaves the
   * pipes open.
   */
  void terminate() {
    process.toHandle().destroy();
  }

  void kill() {
    process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() {
    kill();
  }
}
