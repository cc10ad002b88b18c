// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab;

import dev.ferrule.lab.evaluate.Machine;
import dev.ferrule.lab.evaluate.Servers;
import dev.ferrule.lab.remote.AllowedSettings;
import dev.ferrule.lab.remote.EvaluationHost;
import dev.ferrule.lab.remote.Token;
import dev.ferrule.tools.EvaluationServer;
import dev.ferrule.tools.VersionProvider;
import dev.ferrule.tools.bench.ServerProcess;
import dev.ferrule.tools.support.Guarded;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Serves {@code ferrule evaluate --server} of other hosts; each server is a process. */
public final class RemoteEvaluationServer implements EvaluationServer {

  /** Called by the service loader. */
  public RemoteEvaluationServer() {}

  @Override
  public void serve(
      InetSocketAddress address, String secret, PrintWriter out, Consumer<String> problems) {
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
                new Token(secret),
                () -> Machine.look("ferrule " + VersionProvider.build()).json(),
                servers,
                problems))) {
      out.println(serving.get().address());
      out.flush();
      serving.get().run();
    }
  }
}
