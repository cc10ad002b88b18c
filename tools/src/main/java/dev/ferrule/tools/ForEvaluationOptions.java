// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.ServiceLoader;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of {@code serve} that start servers for an evaluation on another host. */
final class ForEvaluationOptions {

  /** The options of this mode. */
  static final List<String> NAMES = List.of("--for-evaluation", "--token");

  @Option(
      names = "--for-evaluation",
      paramLabel = "HOST:PORT",
      description =
          "Serve 'ferrule evaluate --server HOST:PORT' on another host, one evaluation at a time."
              + " Each evaluation starts RDMA listeners at HOST, with limited options and memory,"
              + " which end with it.")
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
          "--for-evaluation "
              + control
              + ": a wildcard address; write the address of one RDMA device ('rdma link' and 'ip"
              + " address' show it)");
    }
    ServiceLoader.load(EvaluationServer.class)
        .findFirst()
        .orElseThrow(() ->
            new ToolException(
                ExitCode.USAGE,
                "--for-evaluation needs Ferrule's module 'lab' on the class path; run ./ferrule"
                    + " from a checkout"))
        .serve(address, token.required(), out, problems);
  }
}
