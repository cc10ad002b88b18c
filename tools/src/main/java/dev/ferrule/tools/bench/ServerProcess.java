// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.ProviderInfo;
import dev.ferrule.tools.support.ChildProcess;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.Guarded;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A server in a child process, at a new address. The process is ended and the address removed when
 * this object is closed, or when this process ends.
 */
public final class ServerProcess implements RunningServer {

  /**
   * On emulated, busy processors a JVM takes half a minute to start. One that fails reports that
   * earlier.
   */
  private static final Duration START_TIMEOUT = Duration.ofSeconds(120);

  private final Guarded<FreshAddress> address;
  private final Guarded<ChildProcess> process;
  private final URI uri;

  private ServerProcess(Guarded<FreshAddress> address, Guarded<ChildProcess> process, URI uri) {
    this.address = address;
    this.process = process;
    this.uri = uri;
  }

  /**
   * Starts a server and waits until it listens.
   *
   * @param provider the transport
   * @param host the listen address, for transports that have hosts; if empty, an address of this
   *     host is chosen
   * @param serveOptions further options of the command {@code serve}
   * @param problems receives each line of the server's error output
   * @return the running server
   */
  public static ServerProcess start(
      ProviderInfo provider,
      Optional<String> host,
      List<String> serveOptions,
      Consumer<String> problems) {
    Guarded<FreshAddress> address = Guarded.of(FreshAddress.of(provider, host));
    try {
      List<String> arguments = new ArrayList<>(List.of("serve", "--child"));
      address
          .get()
          .directory()
          .ifPresent(directory -> arguments.add("--child-directory=" + directory));
      arguments.addAll(serveOptions);
      arguments.add(address.get().uri().toString());
      Guarded<ChildProcess> process = Guarded.of(ChildProcess.start(arguments, problems));
      try {
        URI uri = ConfiguredAddress.parse(process.get().awaitAnswer(START_TIMEOUT));
        return new ServerProcess(address, process, uri);
      } catch (RuntimeException e) {
        process.close();
        throw e;
      }
    } catch (RuntimeException e) {
      address.close();
      throw e;
    }
  }

  @Override
  public URI uri() {
    return uri;
  }

  @Override
  public void close() {
    process.close();
    address.close();
  }
}
