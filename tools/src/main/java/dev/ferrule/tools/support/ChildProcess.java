// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A child process of Ferrule, with the Java and class path of this process. Its standard input is a
 * pipe. The child must exit at the end of that input, so that it never outlives its parent.
 */
public final class ChildProcess implements AutoCloseable {

  /** The command's main class; by name, since this package does not depend on the commands. */
  private static final String MAIN_CLASS = "dev.ferrule.tools.Main";

  private static final String ANSWER_PREFIX = "ferrule-child ";
  private static final String MESSAGE_PREFIX = "ferrule: ";

  /** JVM options that apply to one process only: a debugger's port, output files. */
  private static final List<String> NOT_INHERITED =
      List.of(
          "-agentlib:",
          "-agentpath:",
          "-javaagent:",
          "-Xrunjdwp",
          "-Xdebug",
          "-Xlog",
          "-XX:StartFlightRecording",
          "-XX:+FlightRecorder",
          "-XX:AOTCacheOutput",
          "-XX:ArchiveClassesAtExit",
          "-XX:DumpLoadedClassList",
          "-Djdk.module.");

  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);
  private static final int MAX_LINES_KEPT = 1_000;

  /** {@link Process#waitFor} adds this to the number of the signal that ended the process. */
  private static final int SIGNAL_OFFSET = 128;

  private static final int SIGABRT = 6;
  private static final String ENDED_BY_SIGNAL = "its process was ended by signal ";
  private static final String END_OF_OUTPUT = "\0";

  /**
   * Starts a program that ignores SIGINT. A terminal sends SIGINT to each process of its foreground
   * group, and a child that ended before its parent handled the signal would be reported as a lost
   * peer.
   */
  private static final List<String> IGNORING_SIGINT =
      List.of("/bin/sh", "-c", "trap '' INT; exec \"$@\"", "sh");

  private final Process process;
  private final Consumer<String> errors;
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private final List<String> startErrors = new ArrayList<>(); // guarded by itself
  private boolean started; // guarded by startErrors
  private final Thread errorReader;

  private ChildProcess(Process process, Consumer<String> errors) {
    this.process = process;
    this.errors = errors;
    this.errorReader = reader(() -> readLines(process.errorReader(), this::takeError));
  }

  /**
   * Starts a process.
   *
   * @param arguments the arguments of the {@code ferrule} command
   * @param errors receives the lines of the process's standard error, from the return of {@link
   *     #awaitAnswer} on
   * @return the running process
   */
  public static ChildProcess start(List<String> arguments, Consumer<String> errors) {
    return start(MAIN_CLASS, arguments, errors);
  }

  /**
   * Starts a process with another main class. It must communicate as the command does: by {@link
   * #answer} on standard output, and by a line on standard error if it fails.
   *
   * @param mainClass the name of the class; on the module path, a class of this module
   * @param arguments the arguments of its {@code main}
   * @param errors receives the lines of the process's standard error, from the return of {@link
   *     #awaitAnswer} on
   * @return the running process
   */
  public static ChildProcess start(
      String mainClass, List<String> arguments, Consumer<String> errors) {
    ChildProcess child = new ChildProcess(start(commandLine(mainClass, arguments)), errors);
    child.errorReader.start();
    reader(
            () -> {
              readLines(child.process.inputReader(), child::takeLine);
              child.answers.add(END_OF_OUTPUT);
            })
        .start();
    return child;
  }

  private static Process start(List<String> command) {
    List<String> ignoringSigint = new ArrayList<>(IGNORING_SIGINT);
    ignoringSigint.addAll(command);
    try {
      return new ProcessBuilder(ignoringSigint).start();
    } catch (IOException e) {
      // the image of a container may lack a shell
    }
    try {
      return new ProcessBuilder(command).start();
    } catch (IOException e) {
      throw new ToolException(
          ExitCode.FAILED,
          "cannot start the child process " + command.get(0) + ": " + e.getMessage(),
          e);
    }
  }

  /**
   * {@return the command line of another process of {@code ferrule}, for callers that start it}
   *
   * @param arguments the arguments of the command
   */
  public static List<String> commandLine(List<String> arguments) {
    return commandLine(MAIN_CLASS, arguments);
  }

  /**
   * Returns the child's command line, with the program, the options and the class path or module
   * path of this JVM.
   */
  static List<String> commandLine(String mainClass, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(option -> NOT_INHERITED.stream().noneMatch(option::startsWith))
        .forEach(command::add);
    String module = System.getProperty("jdk.module.main");
    if (module != null && module.equals(ChildProcess.class.getModule().getName())) {
      command.addAll(List.of("--module-path", System.getProperty("jdk.module.path")));
      command.addAll(List.of("--module", module + "/" + mainClass));
    } else {
      if (ChildProcess.class.getModule().isNativeAccessEnabled()) {
        command.add("--enable-native-access=ALL-UNNAMED"); // "java -jar" has it from the manifest
      }
      command.addAll(List.of("--class-path", System.getProperty("java.class.path"), mainClass));
    }
    command.addAll(arguments);
    return command;
  }

  /**
   * Creates a platform thread. Reading from a pipe would pin the carrier of a virtual thread. There
   * are as many carriers as processors, so with two processors the output of a second child would
   * never be read.
   */
  private static Thread reader(Runnable work) {
    return Thread.ofPlatform().daemon().name("ferrule-child").unstarted(work);
  }

  /**
   * Writes a line to the process's standard input.
   *
   * @param line the line, without its terminator
   * @throws ToolException if the process has ended
   */
  public void tell(String line) {
    try {
      process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new ToolException(ExitCode.FAILED, "the child process has ended: " + e.getMessage(), e);
    }
  }

  private static void readLines(BufferedReader reader, Consumer<String> sink) {
    try (reader) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        sink.accept(line);
      }
    } catch (IOException e) {
      // the process ended during the read: there is no more output
    }
  }

  /** Handles an answer. Ignores other output, such as that of the JVM. */
  private void takeLine(String line) {
    if (line.startsWith(ANSWER_PREFIX)) {
      answers.add(line.substring(ANSWER_PREFIX.length()));
    }
  }

  private void takeError(String line) {
    synchronized (startErrors) {
      if (!started) {
        if (startErrors.size() < MAX_LINES_KEPT) {
          startErrors.add(line);
        }
        return;
      }
    }
    errors.accept(line);
  }

  /**
   * Sends an answer to the parent process, from the child.
   *
   * @param out the standard output stream
   * @param text the answer
   */
  public static void answer(PrintWriter out, String text) {
    out.println(ANSWER_PREFIX + text);
    out.flush();
  }

  /**
   * Waits for the process's {@link #answer}.
   *
   * @param timeout the time limit
   * @return the answer
   * @throws ToolException if the process ends first, with its exit code and error output
   */
  public String awaitAnswer(Duration timeout) {
    String answer = nextAnswer(timeout);
    synchronized (startErrors) {
      started = true;
      startErrors.forEach(errors);
    }
    return answer;
  }

  private String nextAnswer(Duration timeout) {
    try {
      String answer = answers.poll(timeout.toMillis(), TimeUnit.MILLISECONDS);
      if (answer == null) {
        throw new ToolException(
            ExitCode.FAILED,
            "the child process was not ready within " + timeout.toSeconds() + " s");
      }
      if (answer.equals(END_OF_OUTPUT)) {
        int code = process.waitFor();
        errorReader.join(STOP_TIMEOUT);
        throw endedEarly(code);
      }
      return answer;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException(ExitCode.FAILED, "interrupted", e);
    }
  }

  private ToolException endedEarly(int code) {
    synchronized (startErrors) {
      String message =
          startErrors.stream()
              .filter(line -> line.startsWith(MESSAGE_PREFIX))
              .reduce((warning, failure) -> failure) // the last line has the reason
              .map(ChildProcess::withoutPrefix)
              .orElse("the child process ended with exit code " + code + ": " + startErrors);
      return new ToolException(code == ExitCode.OK ? ExitCode.FAILED : code, message);
    }
  }

  /**
   * {@return a message of a {@code ferrule} process without the command's name}
   *
   * @param line a line from a {@code ferrule} process
   */
  public static String withoutPrefix(String line) {
    return line.startsWith(MESSAGE_PREFIX) ? line.substring(MESSAGE_PREFIX.length()) : line;
  }

  private String signalled(int signal) {
    return ENDED_BY_SIGNAL
        + signal
        + (signal == SIGABRT
            ? ": probably a crash of its JVM; see hs_err_pid" + pid() + ".log in its folder"
            : "");
  }

  /**
   * {@return whether a line of error output reports that a signal ended the process}
   *
   * @param line the line
   */
  public static boolean isOfSignal(String line) {
    return line.startsWith(ENDED_BY_SIGNAL);
  }

  /** {@return the process id} */
  public long pid() {
    return process.pid();
  }

  /**
   * Requests that the process exit, and kills it if it does not. If a signal from elsewhere has
   * ended it, one more line of error output reports the signal.
   */
  @Override
  public void close() {
    try {
      process.getOutputStream().close();
      boolean ended = process.waitFor(STOP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
      if (!ended) {
        process.destroyForcibly().waitFor();
      }
      errorReader.join(STOP_TIMEOUT); // the last line may have the reason
      if (ended && process.exitValue() > SIGNAL_OFFSET) {
        errors.accept(signalled(process.exitValue() - SIGNAL_OFFSET));
      }
    } catch (IOException e) {
      process.destroyForcibly();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
