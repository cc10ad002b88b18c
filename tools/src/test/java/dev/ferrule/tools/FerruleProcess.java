// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A {@code ferrule} process as started by a shell, with files or pipes as its standard streams. */
public final class FerruleProcess implements AutoCloseable {

  private static final int TIMEOUT_SECONDS = 120;

  private final Process process;
  private final Path errors;

  private FerruleProcess(Process process, Path errors) {
    this.process = process;
    this.errors = errors;
  }

  /** Starts a process with pipes as standard input and output. */
  public static FerruleProcess start(Path folder, String... arguments) throws IOException {
    return start(new ProcessBuilder(), Main.class, folder, arguments);
  }

  /** Starts another program than the command, with pipes. */
  static FerruleProcess startProgram(Class<?> program, Path folder, String... arguments)
      throws IOException {
    return start(new ProcessBuilder(), program, folder, arguments);
  }

  /** Starts the command, with pipes and a JVM option. */
  static FerruleProcess startWith(String jvmOption, Path folder, String... arguments)
      throws IOException {
    return startIn(Map.of("JDK_JAVA_OPTIONS", jvmOption), folder, arguments);
  }

  /** Starts the command, with pipes and environment variables. */
  static FerruleProcess startIn(Map<String, String> environment, Path folder, String... arguments)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder();
    builder.environment().putAll(environment);
    return start(builder, Main.class, folder, arguments);
  }

  /** Starts a process with a file as its standard output. */
  static FerruleProcess startInto(Path output, String... arguments) throws IOException {
    ProcessBuilder builder = new ProcessBuilder().redirectOutput(output.toFile());
    return start(builder, Main.class, output.getParent(), arguments);
  }

  /** Starts a process with a file as its standard input. */
  static FerruleProcess startFrom(Path input, String... arguments) throws IOException {
    ProcessBuilder builder = new ProcessBuilder().redirectInput(input.toFile());
    return start(builder, Main.class, input.getParent(), arguments);
  }

  /** Starts a process with a standard stream closed or redirected by a shell. */
  static FerruleProcess startRedirected(Path folder, String redirection, String... arguments)
      throws IOException {
    List<String> shell = List.of("sh", "-c", "exec \"$@\" " + redirection, "sh");
    return start(new ProcessBuilder(), shell, Main.class, folder, arguments);
  }

  /** Starts a process on a terminal, to which both of its streams write. */
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

  /** Sends SIGINT to the descendants of this process, as Ctrl-C does. */
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
        List.of(
            "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED",
            "-XX:TieredStopAtLevel=1", // most processes run for a second only
            "--class-path"));
    command.add(System.getProperty("java.class.path"));
    command.add(program.getName());
    command.addAll(List.of(arguments));
    Path errors = Files.createTempFile(folder, "errors-", ".txt");
    return new FerruleProcess(
        builder.command(command).redirectError(errors.toFile()).start(), errors);
  }

  public Process process() {
    return process;
  }

  public BufferedReader output() {
    return process.inputReader();
  }

  /** Returns the output up to the end of a text, for which this waits. */
  String readUntil(String text) throws IOException {
    StringBuilder seen = new StringBuilder();
    while (seen.indexOf(text) < 0) {
      int next = output().read();
      assertThat(next).as("the end of the output, after %s", seen).isNotNegative();
      seen.append((char) next);
    }
    return seen.toString();
  }

  /** Waits until the process has ended. */
  public FerruleProcess mustEndWith(int exitCode) throws Exception {
    assertThat(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).as("ended in time").isTrue();
    assertThat(process.exitValue()).as("exit code, with errors '%s'", errors()).isEqualTo(exitCode);
    return this;
  }

  public String errors() throws IOException {
    return Files.readString(errors);
  }

  /**
   * Sends SIGTERM, as {@code kill} does. Unlike {@code Process.destroy} it leaves the pipes open.
   */
  public void terminate() {
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
