// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.ProviderInfo;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.bench.BenchServer;
import dev.ferrule.tools.bench.FreshAddress;
import dev.ferrule.tools.bench.Pinning;
import dev.ferrule.tools.bench.ServerLimits;
import dev.ferrule.tools.support.ChildProcess;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.Problems;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The server side of the measurements. */
@Command(
    name = "serve",
    mixinStandardHelpOptions = true,
    description = {
      "Serves 'ferrule latency URI', 'ferrule bandwidth URI' and 'ferrule rma URI' on another host"
          + " or in another shell: several clients at a time, until a signal ends it.",
      "With --for-evaluation, starts the servers of 'ferrule evaluate --server' on another host.",
      "The address to measure, with any part chosen by the system, is written to standard output,"
          + " on one line.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  ferrule serve sm:///tmp/bench               in one shell, and in another:",
      "  ferrule latency sm:///tmp/bench --size 64,4KiB",
      "",
      "Messages of more than 1 MiB need a higher limit:",
      "  ferrule serve sm:///tmp/bench --option maxMessage=64MiB",
      "",
      "For an evaluation between two hosts, on the other one:",
      "  ferrule serve --for-evaluation 10.0.0.2:7470 --token SECRET",
      "  ferrule evaluate --server 10.0.0.2:7470 --token SECRET --out here",
      "",
      "Over RDMA each receive buffer is of that size; a lower limit saves memory (set it on the"
          + " client, too):",
      "  ferrule serve sendrecv://10.0.0.2:7471 --option maxMessage=4KiB"
    })
final class ServeCommand implements Callable<Integer> {

  /** The server's thread and one client's, which may be on this host. More clients may connect. */
  private static final int BUSY_THREADS = 2;

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "URI",
      description = "Address to listen on, such as sm:///tmp/bench.")
  private @Nullable String address;

  @Mixin private ForEvaluationOptions forEvaluation = new ForEvaluationOptions();

  @Mixin private WaitOptions waitOptions = new WaitOptions();

  @Mixin private TransportOptions transportOptions = new TransportOptions();

  @Mixin private EndpointOptions endpointOptions = new EndpointOptions();

  @Option(
      names = "--max-clients",
      paramLabel = "N",
      description =
          "Maximum number of connected clients. Each has a thread, except with --single-receiver."
              + " Default: 1024.")
  private int maxClients = ServerLimits.MAX_CLIENTS;

  @Option(
      names = "--child",
      hidden = true,
      description = "Exit when standard input ends, which is when the parent process exits.")
  private boolean child;

  @Option(
      names = "--child-directory",
      hidden = true,
      description = "A directory to remove on exit.")
  private @Nullable Path childDirectory;

  @Override
  public Integer call() {
    PrintWriter err = spec.commandLine().getErr();
    if (maxClients < 1 || maxClients > ServerLimits.MAX_CLIENTS) {
      throw new ParameterException(
          spec.commandLine(), "--max-clients must be from 1 to " + ServerLimits.MAX_CLIENTS);
    }
    if (forEvaluation.isRequested() == (address != null)) {
      throw new ParameterException(
          spec.commandLine(), "give either the URI to listen on, or --for-evaluation");
    }
    checkOptions();
    if (address == null) {
      forEvaluation.serve(spec.commandLine().getOut(), problem -> Problems.print(err, problem));
      return ExitCode.OK;
    }
    URI uri = ConfiguredAddress.parse(address);
    ConnectionOptions.Builder builder = endpointOptions.builder();
    waitOptions.addTo(builder, BUSY_THREADS);
    ConfiguredAddress.provider(uri.getScheme())
        .ifPresent(provider -> transportOptions.addTo(builder, provider));
    ConfiguredAddress endpoint = new ConfiguredAddress(uri, builder.build());
    if (TransportOptions.isSimplex(endpoint) && TransportOptions.isSingleReceiver(endpoint)) {
      throw new ToolException(
          ExitCode.USAGE,
          endpoint.address()
              + ": with simplex=on the server times the calls of each connection in a separate"
              + " thread, so it cannot receive in a single thread; remove simplex=on or"
              + " singleReceiver=on");
    }
    Guarded<AutoCloseable> directory = Guarded.of(this::removeDirectory);
    try (Guarded<Listener> listener = listen(endpoint)) {
      announce(listener.get().uri());
      WaitStrategy wait = endpoint.waitStrategy();
      Consumer<String> problems = problem -> Problems.print(err, problem);
      Pinning pinning = waitOptions.pinning(wait, BUSY_THREADS, problems);
      ServerLimits limits = limits(endpoint).withClients(maxClients);
      BenchServer server = new BenchServer(listener.get(), wait, pinning, limits, problems);
      if (TransportOptions.isSingleReceiver(endpoint)) {
        server.runSingleReceiver();
      } else {
        server.run();
      }
    } finally {
      directory.close();
    }
    return ExitCode.OK;
  }

  /** Throws if an option is given that has no effect. */
  private void checkOptions() {
    for (OptionSpec option : spec.commandLine().getParseResult().matchedOptions()) {
      boolean ofEvaluation = ForEvaluationOptions.NAMES.contains(option.longestName());
      if (ofEvaluation != forEvaluation.isRequested()) {
        throw new ParameterException(
            spec.commandLine(),
            option.longestName()
                + (ofEvaluation
                    ? " has no effect without --for-evaluation"
                    : " has no effect with --for-evaluation: the evaluation sets the options"));
      }
    }
  }

  private static ServerLimits limits(ConfiguredAddress endpoint) {
    ProviderInfo provider = ConfiguredAddress.requiredProvider(endpoint.address().getScheme());
    return new ServerLimits(
        endpoint.resolved(provider).get(StandardOptions.MAX_MESSAGE),
        FreshAddress.isLocal(provider));
  }

  /**
   * Listens. Synchronized with the removal of the directory, which a concurrent shutdown may
   * request.
   */
  private synchronized Guarded<Listener> listen(ConfiguredAddress endpoint) {
    return Guarded.of(Ferrule.listen(endpoint.address(), endpoint.options()));
  }

  private void announce(URI uri) {
    PrintWriter out = spec.commandLine().getOut();
    if (child) {
      endWithParent();
      endWithAnyThread();
      ChildProcess.answer(out, uri.toString());
    } else {
      out.println(uri);
      out.flush();
    }
  }

  private synchronized void removeDirectory() {
    if (childDirectory != null) {
      FreshAddress.remove(childDirectory);
    }
  }

  /**
   * Ends this process if one of its threads fails, since the client of that thread would wait
   * forever. The parent process reads the reason, and removes the directory.
   */
  private void endWithAnyThread() {
    PrintWriter err = spec.commandLine().getErr();
    Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
      if (!Guarded.exiting()) {
        Problems.print(err, "the thread " + thread.getName() + " has failed: " + failure);
        Runtime.getRuntime().halt(ExitCode.FAILED);
      }
    });
  }

  private static void endWithParent() {
    Thread.ofPlatform()
        .daemon()
        .name("ferrule-parent-watch")
        .start(() -> {
          try {
            while (System.in.read() >= 0) {
              // the parent writes nothing
            }
          } catch (IOException e) {
            // same as the end of the stream
          }
          System.exit(ExitCode.OK);
        });
  }
}
