// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.Ferrule;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.ProtocolException;
import dev.ferrule.tools.stream.StreamReceiver;
import dev.ferrule.tools.support.Arrivals;
import dev.ferrule.tools.support.CommandHandshake;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.Problems;
import dev.ferrule.tools.support.ToolException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.nio.channels.FileChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Receives a stream and writes it to standard output. */
@Command(
    name = "listen",
    mixinStandardHelpOptions = true,
    description = {
      "Waits for 'ferrule send' and writes its data to standard output, byte for byte. Exits with"
          + " 0 only if the stream was complete.",
      "The address to send to, with any part chosen by the system, is written to standard error.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  ferrule listen sm:///tmp/app > copy",
      "  ferrule listen sm:///tmp/app | sha256sum",
      "  ferrule listen sendrecv://10.0.0.2:7471 > copy        over RDMA, on this host"
    })
final class ListenCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "URI", description = "Address to listen on, such as sm:///tmp/app.")
  private String address = "";

  @Option(
      names = "--keep",
      description =
          "Receive one stream after another until a signal ends the command, instead of only one."
              + " An incomplete stream is reported, and the next one is awaited.")
  private boolean keep;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      converter = Values.Time.class,
      description =
          "Time limit for a sender to connect, such as 30 (seconds), 500ms or 2m. Default:"
              + " none.")
  private @Nullable Duration timeout;

  @Option(
      names = {"-q", "--quiet"},
      description = "Do not write the address to standard error.")
  private boolean quiet;

  @Mixin private EndpointOptions options = new EndpointOptions();

  @Override
  public Integer call() {
    ConfiguredAddress endpoint =
        new ConfiguredAddress(ConfiguredAddress.parse(address), options.builder().build());
    TransportOptions.requireBothWays(endpoint);
    try (Guarded<Listener> listener =
        Guarded.of(Ferrule.listen(endpoint.address(), endpoint.options()))) {
      PrintWriter err = spec.commandLine().getErr();
      if (!quiet) {
        err.println("listening on " + listener.get().uri());
      }
      try (Arrivals arrivals = new Arrivals(listener.get(), request -> accept(request, err))) {
        boolean again = true;
        while (again) {
          again = !receiveStream(arrivals.next(timeout), err) || keep;
        }
      }
    }
    return ExitCode.OK;
  }

  /** Receives a stream; returns false if the client was not accepted. */
  private boolean receiveStream(Optional<Connection> accepted, PrintWriter err) {
    if (accepted.isEmpty()) {
      return false;
    }
    try (Guarded<Connection> connection = Guarded.of(accepted.get())) {
      writeStream(connection.get());
    } catch (FerruleException | ToolException e) {
      if (!keep || ExitCode.of(e) == ExitCode.FAILED) {
        throw e; // without standard output no further stream can be written
      }
      report(err, e.getMessage());
    }
    return true;
  }

  private Optional<Connection> accept(ConnectionRequest request, PrintWriter err) {
    try {
      return CommandHandshake.STREAM.accept(request, problem -> report(err, problem));
    } catch (FerruleException e) {
      if (!keep && !(e instanceof ProtocolException)) {
        throw e; // not caused by the client alone
      }
      report(err, e.getMessage());
      return Optional.empty();
    }
  }

  /** Reports a problem, unless it is a consequence of the signal that has ended the command. */
  private static void report(PrintWriter err, @Nullable String problem) {
    if (!Guarded.exiting()) {
      Problems.print(err, problem);
    }
  }

  private void writeStream(Connection connection) {
    // A signal closes the channel before the connection: a blocked write ends before the memory
    // that it reads is zeroed.
    Guarded<FileChannel> output = Guarded.of(new FileOutputStream(FileDescriptor.out).getChannel());
    try {
      new StreamReceiver(connection).receive(output.get());
    } finally {
      output.release(); // standard output stays open for the next stream
    }
  }
}
