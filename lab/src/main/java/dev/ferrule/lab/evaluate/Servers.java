// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import com.google.gson.JsonObject;
import dev.ferrule.ProviderInfo;
import dev.ferrule.tools.bench.RunningServer;
import dev.ferrule.tools.bench.ServerProcess;
import java.util.Optional;
import java.util.function.Consumer;

/** Starts the servers of an evaluation, on this host or another. */
public interface Servers {

  /**
   * Starts a server in a process of its own, and waits until it listens. {@code problems} receives
   * its error output, by line.
   */
  RunningServer start(ProviderInfo provider, ServerSettings settings, Consumer<String> problems);

  /** {@return the facts of the other host; empty if the servers run on this one} */
  default Optional<JsonObject> machine() {
    return Optional.empty();
  }

  /**
   * {@return why no server can be started any more, with what to do; empty if servers can be
   * started}
   */
  default Optional<String> lost() {
    return Optional.empty();
  }

  /**
   * Returns servers on this host. A transport with host addresses listens on {@code host}; if it is
   * empty, an address is chosen.
   */
  static Servers onThisHost(Optional<String> host) {
    return (provider, settings, problems) ->
        ServerProcess.start(provider, host, settings.arguments(), problems);
  }
}
