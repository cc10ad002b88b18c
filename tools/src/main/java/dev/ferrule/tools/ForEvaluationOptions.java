// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.tools.bench.ServerProcess;
import dev.ferrule.tools.evaluate.Machine;
import dev.ferrule.tools.evaluate.Servers;
import dev.ferrule.tools.remote.AllowedSettings;
import dev.ferrule.tools.remote.EvaluationHost;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.ToolException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options with which {@code serve} starts servers for an evaluation on another host. */
final class ForEvaluationOptions {

  /** The options of this mode. */
  static final List<String> NAMES = List.of("--for-evaluation", "--token");

  @Option(
      names = "--for-evaluation",
      paramLabel = "HOST:PORT",
      description =
          "Start the servers of 'ferrule evaluate --server HOST:PORT' on another host, for one"
              + " evaluation at a time: RDMA listeners at HOST, with limited options and memory,"
              + " which end with the evaluation.")
  private @Nullable String control;

  @Mixin private TokenOption token = new TokenOption();

  boolean isRequested() {
    return control != null;
  }

  /** Serves evaluations until a signal ends the process. */
  void serve(PrintWriter out, Consumer<String> problems) {
    if (control == null) {
      throw new IllegalStateException("--for-evaluation is not given");
    }
    InetSocketAddress address = TokenOption.address("--for-evaluation", control);
    if (address.getAddress().isAnyLocalAddress()) {
      throw new ToolException(
          ExitCode.USAGE,
          "--for-evaluation " + control + ": the servers need an address of an RDMA device here");
    }
    Optional<String> host = Optional.of(address.getAddress().getHostAddress());
    Servers servers =
        (provider, settings, lines) -> {
          List<String> arguments = new ArrayList<>(settings.arguments());
          arguments.addAll(AllowedSettings.bounds(provider, settings));
          return ServerProcess.start(provider, host, arguments, lines);
        };
    try (Guarded<EvaluationHost> serving =
        Guarded.of(
            new EvaluationHost(
                address,
                token.required(),
                () -> Machine.look("ferrule " + VersionProvider.build()).json(),
                servers,
                problems))) {
      out.println(serving.get().address());
      out.flush();
      serving.get().run();
    }
  }
}
