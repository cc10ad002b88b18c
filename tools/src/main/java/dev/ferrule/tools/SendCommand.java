// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.StandardOptions;
import dev.ferrule.tools.report.Numbers;
import dev.ferrule.tools.stream.StreamSender;
import dev.ferrule.tools.support.CommandHandshake;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.Problems;
import dev.ferrule.tools.support.StandardInput;
import dev.ferrule.tools.support.StatusLine;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Sends a file, or standard input, as a stream. */
@Command(
    name = "send",
    mixinStandardHelpOptions = true,
    description = {
      "Sends a file, or standard input, to 'ferrule listen'. Exits with 0 only after the listener"
          + " has written all of it.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  ferrule send sm:///tmp/app file",
      "  tar c folder | ferrule send --retry 10s sm:///tmp/app",
      "  ferrule send sendrecv://10.0.0.2:7471 file"
    })
final class SendCommand implements Callable<Integer> {

  private static final double NANOS_PER_SECOND = 1e9;
  private static final Duration RETRY_PAUSE = Duration.ofMillis(20);

  @Parameters(
      index = "0",
      paramLabel = "URI",
      description = "The address of 'ferrule listen', such as sm:///tmp/app.")
  private String address = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "FILE",
      description = "The file to send; standard input if it is - or missing.")
  private @Nullable Path file;

  @Option(
      names = "--connect-timeout",
      paramLabel = "TIME",
      converter = Values.Time.class,
      description =
          "Time limit for the listener's answer, such as 10 (seconds), 500ms or 2m. Default:"
              + " 5.")
  private @Nullable Duration connectTimeout;

  @Option(
      names = "--retry",
      paramLabel = "TIME",
      converter = Values.Time.class,
      defaultValue = "0",
      description =
          "How long to retry while there is no listener, such as 10 (seconds), 500ms or 2m."
              + " Default: no retry.")
  private Duration retry = Duration.ZERO;

  @Option(
      names = {"-q", "--quiet"},
      description = "Show no progress, even on a terminal.")
  private boolean quiet;

  @Mixin private EndpointOptions options = new EndpointOptions();

  @Override
  public Integer call() {
    ConnectionOptions.Builder builder = options.builder();
    if (connectTimeout != null) {
      builder.set(StandardOptions.CONNECT_TIMEOUT, connectTimeout);
    }
    ConfiguredAddress endpoint =
        new ConfiguredAddress(ConfiguredAddress.parse(address), builder.build());
    TransportOptions.requireBothWays(endpoint);
    try (FileChannel source = open()) {
      // A signal closes the resources in reverse order: a blocked read ends before the connection's
      // memory, which it fills, is unmapped.
      try (Guarded<Connection> connection = Guarded.of(connect(endpoint));
          Guarded<FileChannel> input = Guarded.of(source)) {
        String whole = size(source);
        long start = System.nanoTime();
        new StreamSender(connection.get(), sent -> showProgress(sent, whole, start))
            .send(input.get());
      } finally {
        StatusLine.onTerminal().clear();
      }
    } catch (IOException e) {
      throw new ToolException(ExitCode.FAILED, "cannot close the input: " + e.getMessage(), e);
    }
    return ExitCode.OK;
  }

  private FileChannel open() {
    if (file == null || file.toString().equals("-")) {
      return StandardInput.open();
    }
    if (Files.isDirectory(file)) {
      throw new ToolException(
          ExitCode.FAILED, file + " is a directory; send an archive of it, for example with tar");
    }
    try {
      return FileChannel.open(file, StandardOpenOption.READ);
    } catch (IOException e) {
      throw new ToolException(
          ExitCode.FAILED, "cannot read " + file + ": " + Problems.reason(e), e);
    }
  }

  private void showProgress(long sent, String whole, long startNanos) {
    if (!quiet) {
      double seconds = (System.nanoTime() - startNanos) / NANOS_PER_SECOND;
      StatusLine.onTerminal()
          .show(() ->
              "send: " + Numbers.bytes(sent) + whole + ", " + Numbers.byteRate(sent / seconds));
    }
  }

  private static String size(FileChannel source) {
    try {
      long size = source.size();
      return size > 0 ? " of " + Numbers.bytes(size) : ""; // 0 for a pipe
    } catch (IOException e) {
      return "";
    }
  }

  private Connection connect(ConfiguredAddress endpoint) {
    long end = System.nanoTime() + retry.toNanos();
    while (true) {
      try {
        return CommandHandshake.STREAM.connect(endpoint.address(), endpoint.options());
      } catch (ConnectionRefusedException e) {
        if (System.nanoTime() - end >= 0) {
          throw e;
        }
        pause(e);
      }
    }
  }

  private static void pause(ConnectionRefusedException refusal) {
    try {
      Thread.sleep(RETRY_PAUSE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw refusal;
    }
  }
}
